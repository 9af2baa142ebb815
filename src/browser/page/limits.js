// What bounds the script: a page decides how large it is, we decide how much of it we read.
const LIMITS = {
  snapshotBytes: 1 << 20,   // the text of one snapshot, unless the caller says otherwise
  snapshotMs: 3000,         // the time one snapshot, look-up or name may take; what is missing then is said
  nodes: 200000,            // the nodes one snapshot visits
  nesting: 500,             // how deep the walk goes; deeper nests are a page's attack on the stack
  name: 900,                // a longer accessible name is dropped (a YAML key ends at 1,024)
  nameRead: 4000,           // characters gathered for a name before it counts as too long
  text: 20000,              // one text of a snapshot
  value: 2000,              // the value of a field in a snapshot
  url: 500,                 // a link's address in a snapshot
  ids: 50,                  // ids followed in aria-labelledby and aria-owns
  shadowRoots: 5000,        // shadow roots looked into
  pseudoRules: 40,          // rules with generated text that are matched; with more, every element is asked
  styleRules: 2,            // rules that are read in search of those, for each element of the page
  matches: 5000,            // elements compared by role and name
  matchMs: 200,             // and the time for it
  selectorSteps: 30,        // elements on a path that describe() writes
  actionMs: 5000,           // how long prepare() waits, unless the caller says otherwise
  storageBytes: 16 << 20,   // what storage() hands out
  listed: 5,                // elements named in a message
  findBytes: 64 << 20,      // the text that find looks through
  findMatches: 50,          // matches of find, unless the caller says otherwise
  regexLine: 4000,          // characters of a line that a regular expression sees
  options: 1000,            // options of a drop-down that a live view is told of
};
