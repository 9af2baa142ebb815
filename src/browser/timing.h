// How long things are waited for in the browser layer, and how often they are looked at.
#pragma once

#include <chrono>

namespace reprise::browser {

// How long the rest of a document is waited for once its content is there.
inline constexpr std::chrono::seconds kLoadPatience{5};
// How long a navigation that failed waits for what the browser shows in its place.
inline constexpr std::chrono::milliseconds kErrorPagePatience{1'000};
// How long an answer waits for the title of a document that has loaded.
inline constexpr std::chrono::milliseconds kTitlePatience{500};
// A way back or forward that begins no navigation in this time was one within the document.
inline constexpr std::chrono::milliseconds kHistoryPatience{300};

// Settling after an action (browser/settle.h): two frames are given up after this, and what the
// action set off is waited for no longer than this.
inline constexpr std::chrono::milliseconds kFramePatience{500};
inline constexpr std::chrono::seconds kSettleRequests{5};
inline constexpr std::chrono::seconds kSettleNavigation{10};
inline constexpr std::chrono::milliseconds kSettleTimers{600};

// A page that is opened is ready by then, and so is a browser that is started.
inline constexpr std::chrono::seconds kPagePatience{30};
// A command, and its answer, wait so long for pages that are there and not ready yet: an agent that
// clicks a link to a new tab finds itself in it.
inline constexpr std::chrono::seconds kNewPagePatience{2};
// How long a tool waits for an element, for a document, for a snapshot; and how often it looks.
inline constexpr std::chrono::seconds kActionTimeout{5};
inline constexpr std::chrono::seconds kNavigationTimeout{60};
inline constexpr std::chrono::seconds kSnapshotTimeout{30};
inline constexpr std::chrono::milliseconds kLookAgain{50};
// Whatever a tool does is over by then.
inline constexpr std::chrono::seconds kToolTimeout{120};
// A page that is asked for nothing and does not answer for so long runs a script, which is then
// stopped; and how long that may take.
inline constexpr std::chrono::milliseconds kScriptPause{250};
inline constexpr std::chrono::seconds kScriptEnd{5};
// A download that a command began is waited for so long; then the answer says that it goes on.
inline constexpr std::chrono::seconds kDownloadPatience{5};
// browser_wait_for: a text that comes or goes.
inline constexpr std::chrono::seconds kWaitForText{30};
// The picture and the snapshot that are kept of a command.
inline constexpr std::chrono::seconds kCapturePatience{10};

// How often pools of other processes that fell silent are looked for.
inline constexpr std::chrono::seconds kStaleInterval{1};
// How often a pool looks after its browsers, and contexts that could sleep are looked for.
inline constexpr std::chrono::seconds kPoolInterval{5};
inline constexpr std::chrono::seconds kSleepInterval{1};
// What pages do by themselves is gathered for so long before it is told.
inline constexpr std::chrono::milliseconds kTellDelay{50};

// The empty document of an origin whose local storage is read or written (chromium/storage_page.h).
inline constexpr std::chrono::milliseconds kStorageDocumentPatience{2'000};
inline constexpr std::chrono::milliseconds kStorageDocumentPause{5};
// What sites keep is read, or put back, by then; it is read so long after something that may have
// changed it, and at least so often while pages are open.
inline constexpr std::chrono::seconds kStatePatience{10};
inline constexpr std::chrono::milliseconds kStateDelay{250};
inline constexpr std::chrono::seconds kStateInterval{60};
// A client of the browser's own protocol that works keeps its session from expiring; told this
// often.
inline constexpr std::chrono::milliseconds kClientTouchInterval{250};
// It works too while a command of its has no answer yet, for so long since it was last heard of.
inline constexpr std::chrono::minutes kMaxClientSilence{10};
// How long what the browser says is still listened to after such a client has left.
inline constexpr std::chrono::milliseconds kMaxClientGoodbye{1'000};
// How long such a client may take nothing while much waits for it: then the browser is listened to
// all the same, and when that is too much as well, it is sent away.
inline constexpr std::chrono::milliseconds kMaxClientPause{1'000};
inline constexpr std::chrono::seconds kMaxClientStall{5};
// A live view shows ten pictures a second at most. When one is due and the browser has none for so
// long, it has nothing newer than what it sent before.
inline constexpr std::chrono::milliseconds kFrameInterval{100};
inline constexpr std::chrono::milliseconds kFreshFramePatience{60};
// A person who does nothing for so long has ended what they were typing, clicking or scrolling.
inline constexpr std::chrono::milliseconds kGesturePause{1'000};
// How long input of theirs waits for a page to take it.
inline constexpr std::chrono::seconds kInputPatience{5};

// One try to remove a profile, however much it holds; and how often it is tried, with a pause
// before each try that grows by itself (about three seconds in all).
inline constexpr std::chrono::milliseconds kMaxRemovalTime{2'000};
inline constexpr int kMaxRemovalTries = 16;
inline constexpr std::chrono::milliseconds kRemovalPause{25};
// How long a sweep waits for a process that it has killed.
inline constexpr std::chrono::milliseconds kMaxKillTime{5'000};

}  // namespace reprise::browser
