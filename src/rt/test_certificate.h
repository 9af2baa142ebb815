// A certificate for tests of TLS. Included by *_test.cpp only.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/assert.h"

namespace reprise::rt {

// A self-signed certificate for 127.0.0.1 and localhost in a temporary directory.
class Certificate {
 public:
  Certificate() {
    std::string pattern = (std::filesystem::temp_directory_path() / "reprise-tls-XXXXXX").string();
    REPRISE_ASSERT(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* made = X509_new();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, key);
    X509_NAME* name = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("reprise test"), -1, -1, 0);
    X509_set_issuer_name(made, name);
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_add_ext(made, names, -1);
    X509_EXTENSION_free(names);
    REPRISE_ASSERT(X509_sign(made, key, EVP_sha256()) > 0);
    BIO* file = BIO_new_file(certificate_file().c_str(), "w");
    REPRISE_ASSERT(PEM_write_bio_X509(file, made) == 1);
    BIO_free(file);
    file = BIO_new_file(key_file().c_str(), "w");
    REPRISE_ASSERT(PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
    BIO_free(file);
    X509_free(made);
    EVP_PKEY_free(key);
  }
  ~Certificate() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;
  std::string certificate_file() const { return (directory_ / "certificate.pem").string(); }
  std::string key_file() const { return (directory_ / "key.pem").string(); }
  std::string missing_file() const { return (directory_ / "missing.pem").string(); }

 private:
  std::filesystem::path directory_;
};

inline const Certificate& certificate() {
  static const Certificate made;
  return made;
}

}  // namespace reprise::rt
