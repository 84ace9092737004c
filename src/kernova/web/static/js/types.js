/**
 * Types of the server's requests and replies.
 *
 * Generated from the server's schema by kernova.web.page_types; do not edit: run `make page-types`.
 * Types that only the page knows are in page_types.js.
 */

/**
 * Whether to go on; what is known and what is guessed are kept apart.
 * @typedef {object} Advice
 * @property {string[]} known
 * @property {string[]} guessed
 * @property {number} questions_left
 */

/**
 * To which category the row of a question belongs, and perhaps others of its cluster.
 * @typedef {object} Answer
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {number} row The row's place in the table, counted from 0.
 * @property {string} label A category's name. Spaces around it go, and spaces within become single.
 * @property {"all"|number[]|null} [members] Rows that get the same name: all that the question stands for and that have
 *   none, or these; null: the row alone.
 */

/**
 * Whether a better map is being drawn.
 * @typedef {object} BetterMap
 * @property {"none"|"running"|"ready"|"failed"} state
 * @property {number} done
 * @property {number} total
 */

/**
 * Everything there is to see of a row.
 * @typedef {object} Card
 * @property {number} row
 * @property {string} id
 * @property {string|null} label
 * @property {number|null} question The question that gave the label.
 * @property {Opinion[]} opinions
 * @property {Feature[]} features
 * @property {Media} media
 */

/**
 * A category met so far.
 * @typedef {object} Category
 * @property {string} name
 * @property {number} rows How many rows are known to belong to it.
 * @property {number} asked How many of them were asked.
 * @property {number} first_row
 * @property {number} colour A number that the category keeps as long as it is there.
 */

/**
 * How many rows have a category.
 * @typedef {object} CategoryShare
 * @property {string} name
 * @property {number} share
 */

/**
 * Another answer to an earlier question.
 * @typedef {object} Change
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {string|null} label The category; null: as if skipped.
 * @property {number|null} [row] The row that the question was about. Numbers of questions change when an earlier answer
 *   is taken back: with its row, no other answer is changed.
 */

/**
 * A category goes; rows that were asked count as skipped, others are open again.
 * @typedef {object} Delete
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {string} name A category's name. Spaces around it go, and spaces within become single.
 */

/**
 * A row that experts name differently.
 * @typedef {object} Disagreement
 * @property {number} row
 * @property {string} id
 * @property {string} label
 * @property {Opinion[]} opinions
 */

/**
 * All rows that experts name differently.
 * @typedef {object} DisagreementsReply
 * @property {Disagreement[]} disagreements
 */

/**
 * Someone who works here, or has worked here.
 * @typedef {object} ExpertHere
 * @property {string} name
 * @property {number} questions How many questions they answered or skipped.
 * @property {boolean} is_here
 */

/**
 * An expert's name as it is kept.
 * @typedef {object} ExpertReply
 * @property {string} name
 */

/**
 * Why a request was not met.
 * @typedef {object} Fault
 * @property {string} code What kind of fault it is, for programs.
 * @property {string} message The sentence for people.
 * @property {Object<string, string>|null} [fields] What is wrong with each field at fault.
 */

/**
 * The one shape of everything that went wrong.
 * @typedef {object} FaultReply
 * @property {Fault} error
 */

/**
 * One value of a row, and what is needed to draw it against all rows.
 * @typedef {object} Feature
 * @property {string} name
 * @property {"number"|"category"} kind
 * @property {string} value
 * @property {string} usual
 * @property {string} place
 * @property {number} surprise
 * @property {number[]} histogram
 * @property {number|null} lowest
 * @property {number|null} highest
 * @property {string} lowest_words
 * @property {string} highest_words
 * @property {number|null} position
 * @property {number|null} usual_position
 * @property {"linear"|"log"|"clipped"} axis
 * @property {string} axis_words
 * @property {CategoryShare[]} shares
 * @property {number} n_categories
 * @property {number|null} own_share
 */

/**
 * Rows whose id holds the text; those that begin with it come first.
 * @typedef {object} FoundReply
 * @property {FoundRow[]} rows
 */

/**
 * A row that was looked for.
 * @typedef {object} FoundRow
 * @property {number} row
 * @property {string} id
 * @property {string|null} label
 */

/**
 * Something that was said.
 * @typedef {object} HistoryEntry
 * @property {number} number
 * @property {string} at
 * @property {string|null} by
 * @property {string} words
 * @property {"prior"|"answer"|"skip"|"label"|"labels"|"change"|"rename"|"merge"|"delete"|"settle"|"undo"} kind
 * @property {boolean} counts False for what was undone, and for undoing it.
 * @property {number|null} question The number by which the answer can be changed.
 * @property {number|null} row
 * @property {string|null} id
 * @property {number} n_rows
 * @property {string|null} label
 * @property {string|null} label_now The category that the row has by now.
 */

/**
 * What was said, the newest first.
 * @typedef {object} HistoryReply
 * @property {number} total
 * @property {HistoryEntry[]} entries
 */

/**
 * Rows that are named out of turn, in one step.
 * @typedef {object} Labels
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {number[]} rows
 * @property {string} label A category's name. Spaces around it go, and spaces within become single.
 */

/**
 * A wish to learn from the answers so far.
 * @typedef {object} Learn
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 */

/**
 * How many of the rows without a label are known, ambiguous and unknown.
 * @typedef {object} LearnCounts
 * @property {number} known
 * @property {number} ambiguous
 * @property {number} unknown
 */

/**
 * What was learnt from the answers so far.
 * @typedef {object} LearnReply
 * @property {"none"|"running"|"ready"|"failed"} state
 * @property {string} message
 * @property {string} task
 * @property {number} done
 * @property {number} total
 * @property {string} summary
 * @property {string[]} notes
 * @property {Object<string, unknown>[]} classes
 * @property {LearnCounts|null} counts
 * @property {number} n_labelled From how many named rows it was learnt.
 * @property {boolean} is_stale Whether something was said since.
 * @property {number} version
 */

/**
 * What was learnt says of a row.
 * @typedef {object} LearntRow
 * @property {number} row
 * @property {string} id
 * @property {"known"|"ambiguous"|"unknown"} verdict
 * @property {string|null} recognized
 * @property {number|null} membership
 */

/**
 * Rows without a label, those most worth asking first.
 * @typedef {object} LearntRowsReply
 * @property {number} total
 * @property {LearntRow[]} rows
 */

/**
 * What the map shows.
 * @typedef {object} MapReply
 * @property {"axes"|"neighbours"} kind
 * @property {string} words
 * @property {number} rows
 * @property {number} version
 * @property {BetterMap} better
 */

/**
 * Where a row's picture or sound is, or its outline.
 * @typedef {object} Media
 * @property {"none"|"picture"|"sound"|"outline"} kind
 * @property {string|null} [picture]
 * @property {string|null} [sound]
 * @property {string|null} [spectrogram]
 * @property {Object<string, unknown>|null} [outline]
 */

/**
 * Several categories become one.
 * @typedef {object} Merge
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {string} into A category's name. Spaces around it go, and spaces within become single.
 * @property {string[]} others
 */

/**
 * An expert who sits down at the workbench.
 * @typedef {object} NewExpert
 * @property {string} name What the expert is called.
 */

/**
 * What an expert last said of a row.
 * @typedef {object} Opinion
 * @property {string|null} expert
 * @property {string} label
 */

/**
 * How far the work before the first question is.
 * @typedef {object} Preparation
 * @property {"preparing"|"ready"|"failed"} state
 * @property {string} task
 * @property {number} done
 * @property {number} total
 * @property {string} message
 */

/**
 * The question that is open now; null with a reason if there is none.
 * @typedef {object} QuestionReply
 * @property {QuestionShown|null} question
 * @property {string|null} message
 */

/**
 * A question: why it is asked, and what it stands for.
 * @typedef {object} QuestionShown
 * @property {number} row
 * @property {string} id
 * @property {number} number
 * @property {string} reason
 * @property {Object<string, number>} evidence
 * @property {number[]} members Rows without a name that the question stands for, nearest first; 60.
 * @property {string[]} member_ids The ids of those rows.
 * @property {number} n_members How many there are of those in all.
 * @property {Object<string, number>} known_members Rows of the cluster that have a name, by name.
 * @property {Card} card
 */

/**
 * A wish for a question.
 * @typedef {object} QuestionWanted
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {number|null} [row] Ask about this row, which nobody has named yet.
 * @property {"strategy"|"unknown"} [source] Where the question comes from: the strategy, or the rows that what was
 *   learnt does not know.
 */

/**
 * Another name for a category.
 * @typedef {object} Rename
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {string} old A category's name. Spaces around it go, and spaces within become single.
 * @property {string} new A category's name. Spaces around it go, and spaces within become single.
 */

/**
 * What is on the disk now.
 * @typedef {object} Saved
 * @property {number} number Its number in the log, counted from 1.
 * @property {string} words
 * @property {boolean} is_new Whether it brought a new category.
 * @property {number} n_rows How many rows it named.
 */

/**
 * What was saved, and the next question; null while the table is being prepared.
 * @typedef {object} SavedReply
 * @property {QuestionShown|null} question
 * @property {string|null} message
 * @property {Saved} saved
 * @property {number} version
 * @property {boolean} repeated Whether it had been saved under its key before.
 */

/**
 * What is asked about, and how.
 * @typedef {object} SessionReply
 * @property {number} version
 * @property {string} data
 * @property {number} rows
 * @property {number} columns
 * @property {string} strategy
 * @property {number} seed
 * @property {string} project The file that keeps the answers.
 * @property {"none"|"picture"|"sound"|"outline"} media
 * @property {Preparation} preparation
 * @property {boolean} is_resumed
 * @property {string[]} notes
 * @property {ExpertHere[]} experts
 */

/**
 * The end of a disagreement.
 * @typedef {object} Settle
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {string} label A category's name. Spaces around it go, and spaces within become single.
 */

/**
 * A question that is passed over.
 * @typedef {object} Skip
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 * @property {number} row The row's place in the table, counted from 0.
 */

/**
 * Everything that changes.
 * @typedef {object} StateReply
 * @property {number} version
 * @property {false} unchanged
 * @property {Preparation} preparation
 * @property {Category[]} categories
 * @property {number[]} curve Categories met after each question.
 * @property {number} known_before Categories known before any question.
 * @property {number[]} by_lot Categories that asking by lot is expected to have met by then.
 * @property {number} asked
 * @property {number} skipped
 * @property {number} named
 * @property {number} rows
 * @property {Advice} advice
 * @property {number} disagreements
 * @property {ExpertHere[]} experts
 * @property {LearnReply} learn
 */

/**
 * Nothing has changed since the version named.
 * @typedef {object} UnchangedReply
 * @property {number} version
 * @property {true} unchanged
 * @property {Preparation} preparation
 */

/**
 * What this expert said last is taken back.
 * @typedef {object} Undo
 * @property {string|null} [expert] Who says it; without a name, the expert who has none.
 * @property {string|null} [key] A text of your own for this request, for example a UUID. A request that is repeated
 *   with its key is recorded once, and answered again; another with the same key is refused.
 */

/**
 * Addresses that take GET: their parameters, request body and reply.
 * @typedef {{
 *   "/api/disagreements": {parameters: {}, reply: DisagreementsReply},
 *   "/api/history": {parameters: {before?: number|null, limit?: number}, reply: HistoryReply},
 *   "/api/learn": {parameters: {}, reply: LearnReply},
 *   "/api/learn/rows": {parameters: {verdict?: "known"|"ambiguous"|"unknown", limit?: number, offset?: number}, reply: LearntRowsReply},
 *   "/api/map": {parameters: {}, reply: MapReply},
 *   "/api/rows": {parameters: {find: string, limit?: number}, reply: FoundReply},
 *   "/api/rows/{row}": {parameters: {row: number}, reply: Card},
 *   "/api/session": {parameters: {}, reply: SessionReply},
 *   "/api/state": {parameters: {since?: number|null, expert?: string|null}, reply: StateReply|UnchangedReply},
 * }} GetCalls
 */

/**
 * Addresses that take POST: their parameters, request body and reply.
 * @typedef {{
 *   "/api/answers": {parameters: {}, body: Answer, reply: SavedReply},
 *   "/api/categories/delete": {parameters: {}, body: Delete, reply: SavedReply},
 *   "/api/categories/merge": {parameters: {}, body: Merge, reply: SavedReply},
 *   "/api/categories/rename": {parameters: {}, body: Rename, reply: SavedReply},
 *   "/api/disagreements/{row}": {parameters: {row: number}, body: Settle, reply: SavedReply},
 *   "/api/experts": {parameters: {}, body: NewExpert, reply: ExpertReply},
 *   "/api/labels": {parameters: {}, body: Labels, reply: SavedReply},
 *   "/api/learn": {parameters: {}, body: Learn, reply: LearnReply},
 *   "/api/question": {parameters: {}, body: QuestionWanted, reply: QuestionReply},
 *   "/api/skips": {parameters: {}, body: Skip, reply: SavedReply},
 *   "/api/undo": {parameters: {}, body: Undo, reply: SavedReply},
 * }} PostCalls
 */

/**
 * Addresses that take PATCH: their parameters, request body and reply.
 * @typedef {{
 *   "/api/answers/{number}": {parameters: {number: number}, body: Change, reply: SavedReply},
 * }} PatchCalls
 */

export {};
