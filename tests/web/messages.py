"""Messages of the server, as its tests expect them."""

# --- access ----------------------------------------------------------------------------------

NOTICE = (
    "This page requires a login. Open a one-time link from the terminal that runs kernova (press "
    "Enter there for a new one), or enter the token; scripts send 'Authorization: Bearer TOKEN'."
)
NOTICE_ON_PAGE = "Open a one-time link from the terminal that runs kernova"
TOKEN_IN_ADDRESS = (
    "A token in an address is not accepted, since browsers remember addresses. Enter it on the "
    "login page; scripts send 'Authorization: Bearer TOKEN'."
)
VOID_LINK = (
    "This link has already been used, or is older than 15 minutes. Press Enter in the terminal "
    "that runs kernova for a new one."
)
WRONG_TOKEN = "This token is wrong."
VOID_INVITATION = (
    "This invitation has been used, was revoked, or is older than 72 hours. Ask whoever sent it "
    "for a new link."
)
ONLY_THE_HOST_INVITES = (
    "Invited experts cannot invite others. Ask whoever runs kernova for another link."
)
OTHER_HOST = "This host name is not allowed. Use the address that kernova printed."
OTHER_ORIGIN = "Only kernova's own page may send this request."
TOO_LARGE = "The request is larger than 1 MB (a file of labels: 16 MB). Send less at a time."
OTHER_METHOD = "This address does not support this method"

# --- requests --------------------------------------------------------------------------------

INVALID = "The request is invalid: see {field}."
INVALID_PREFIX = "The request is invalid: see "
NO_ROW_60 = "There is no row 60: the table has 60 rows, counted from 0."
NO_CATEGORY = "There is no category 'no'. There are 'z', 'c', 'a'."
NO_QUESTION_9 = "There is no question 9 to change: there are questions 1 to 4."
RESERVED = "The row '{id}' is being labelled by another expert; choose another row."
NOTHING_TO_UNDO = "There is nothing by 'Anna' to undo."
NO_LONGER_OPEN = "is no longer open: it has been labelled meanwhile."
RENUMBERED = (
    "Question 2 is about another row now, because an earlier answer has been undone. Find its new "
    "number in the history."
)
KEY_USED = (
    "The key '1' has been used for another request. Use a new key for every request, for example a "
    "UUID."
)

# --- states ----------------------------------------------------------------------------------

PREPARING = (
    "The table is still being prepared. Ask again in a moment; /api/session reports the progress."
)
NOT_PREPARED = "The table could not be prepared, so there are no questions. It is too odd."
ALL_RESERVED = "All remaining rows are being labelled by other experts."
NOTHING_LEFT = "No questions are left: every row has been asked or labelled."
NO_UNKNOWN_ROWS = "No unknown rows are left to ask about."
NOTHING_LEARNT = "Nothing has been learnt yet. Start with POST /api/learn."
NOTHING_LABELLED = "Suggestions begin with the second labelled row; 0 rows are labelled so far."
UNKNOWN_REASON = "It is unlike every row that was labelled so far."

# --- log entries and media -------------------------------------------------------------------

TWO_ROWS = "2 rows: eel, labelled directly."
SKIPPED = "was skipped."
NO_PICTURE = "Row '{id}' has no picture."
SIZE_LIMIT = "64 MB"
