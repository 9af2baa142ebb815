# The devtools page is part of the binary (src/api/page_files.cpp). web/build.mjs makes it with node; the packages it
# needs are installed when web/package-lock.json has changed, and the page is made anew when something in web/ has.
if(TARGET reprise_api AND EXISTS "${CMAKE_SOURCE_DIR}/web/build.mjs")
  find_program(REPRISE_NODE NAMES node nodejs REQUIRED)
  find_program(REPRISE_NPM NAMES npm REQUIRED)
  set(web "${CMAKE_SOURCE_DIR}/web")
  set(packages "${web}/node_modules/.package-lock.json")
  set(page "${CMAKE_BINARY_DIR}/web")
  # Not `npm ci`: it refuses a lock file without registry addresses when a package has parts for other platforms.
  add_custom_command(
    OUTPUT "${packages}"
    COMMAND "${REPRISE_NPM}" install --no-save --no-audit --no-fund --loglevel=error
    COMMAND "${CMAKE_COMMAND}" -E touch "${packages}"
    DEPENDS "${web}/package.json" "${web}/package-lock.json"
    WORKING_DIRECTORY "${web}"
    COMMENT "Installing the packages of web/" VERBATIM)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS "${web}/src/*")
  add_custom_command(
    OUTPUT "${page}/page_files.inc"
    COMMAND "${REPRISE_NODE}" "${web}/build.mjs" "${page}"
    DEPENDS ${web_sources} "${web}/build.mjs" "${web}/tsconfig.json" "${packages}"
    COMMENT "Building the page of web/" VERBATIM)
  set_source_files_properties(src/api/page_files.cpp PROPERTIES
    OBJECT_DEPENDS "${page}/page_files.inc"
    INCLUDE_DIRECTORIES "${page}"
    COMPILE_DEFINITIONS "REPRISE_WEB_FOLDER=\"${page}\"")
endif()
