/**
 * Types of the server's requests and replies.
 *
 * Generated from the server's schema by web-tools/page_types.py: run `make page-types`.
 * Types that only the page knows are in page_types.js.
 */

/**
 * Stopping advice; what is known and what is estimated are separate.
 * @typedef {object} Advice
 * @property {string[]} known
 * @property {string[]} guessed
 * @property {number} questions_left
 */

/**
 * Agreement of all experts.
 * @typedef {object} AgreementReply
 * @property {number} rows Number of rows that several experts labelled without seeing the others.
 * @property {(string|null)[]} experts
 * @property {number|null} raw Mean fraction of agreeing pairs of experts; null without rows.
 * @property {Measure|null} fleiss Fleiss' kappa of all experts.
 * @property {Measure|null} alpha Krippendorff's alpha of all experts.
 * @property {PairAgreement[]} pairs
 * @property {CategoryAgreement[]} categories
 * @property {Confused[]} confused Pairs of categories, the most frequent first; at most 20.
 * @property {ConfusionTable} table
 * @property {number} seen_rows Further rows with several opinions, of which some were given after seeing another.
 * @property {number} seen_same Number of those on which the present opinions are the same.
 * @property {string} method What is measured, and how, in sentences.
 */

/**
 * Unlabelled rows that are like given ones, the most alike first.
 * @typedef {object} AlikeReply
 * @property {number} row The first given row.
 * @property {string} id
 * @property {string|null} label The only category of the given rows; null if they have none or several.
 * @property {GivenRow[]} given
 * @property {string} words How many there are, and what is known of such rows.
 * @property {number} total Number of unlabelled rows before the cut.
 * @property {AlikeRow[]} rows
 */

/**
 * An unlabelled row before the cut.
 * @typedef {object} AlikeRow
 * @property {number} row
 * @property {string} id
 * @property {number} likeness Fraction of rows at this rank that belonged to the category on other tables.
 */

/**
 * Rows to find others like them.
 * @typedef {object} AlikeWanted
 * @property {number[]} rows
 * @property {number} [limit]
 */

/**
 * The category of a question's row, and optionally of other rows of its cluster.
 * @typedef {object} Answer
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number} row Row index, counted from 0.
 * @property {string} label Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 * @property {"all"|number[]|null} [members] Rows that get the same label: all unlabelled rows that the question
 *   represents, or these; null for the row alone.
 * @property {"low"|"medium"|"high"|null} [confidence] How sure the expert is, if that is stated.
 */

/**
 * Limits of an estimated curve, at some questions; straight in between.
 * @typedef {object} Band
 * @property {number[]} questions
 * @property {number[]} low
 * @property {number[]} high
 */

/**
 * Rows that were added together.
 * @typedef {object} Batch
 * @property {number} number Number of the batch, counted from 1.
 * @property {string} at
 * @property {string} source Name of the file; empty if a program added the rows.
 * @property {number} first Index of the first row.
 * @property {number} rows
 * @property {string} words How many rows look new, and how many would by chance.
 * @property {number} new Number of rows that look new.
 * @property {number|null} by_chance No more would look new by chance; null if not judged.
 * @property {number} known Number of rows that were recognised when they were added.
 * @property {number} groups Number of questions about the rows that look new.
 * @property {number} waiting Number of those that are still to be asked.
 * @property {NewRow[]} unlike Rows that look new, the most unusual first; 200 at most.
 */

/**
 * All batches, the newest first.
 * @typedef {object} BatchesReply
 * @property {Batch[]} batches
 */

/**
 * Progress of the neighbour map.
 * @typedef {object} BetterMap
 * @property {"none"|"running"|"ready"|"failed"} state
 * @property {number} done
 * @property {number} total
 * @property {string} left Time left in words; empty while it is unknown.
 */

/**
 * Everything there is to see of a row.
 * @typedef {object} Card
 * @property {number} row
 * @property {string} id
 * @property {string|null} label
 * @property {number|null} question Number of the question that gave the label.
 * @property {Opinion[]} opinions
 * @property {Feature[]} features The most unusual values first.
 * @property {Feature[]} aligned Values of the first columns, the same for every row, in table order.
 * @property {ContextShown[]} context Columns that are shown without being features.
 * @property {string|null} link Address of the row elsewhere.
 * @property {Media} media
 * @property {string|null} note A remark on the row.
 * @property {boolean} is_flagged
 * @property {string[]} also Labels beside the category.
 * @property {""|"unsure"|"accepted"} status Whether the label is an accepted suggestion, or an expert was unsure.
 * @property {"low"|"medium"|"high"|null} confidence How sure the expert was who gave the label.
 */

/**
 * A category discovered so far.
 * @typedef {object} Category
 * @property {string} name
 * @property {number} rows Number of rows with this label.
 * @property {number} asked Number of those that were asked about.
 * @property {number} first_row
 * @property {number} accepted Number of those that are accepted suggestions.
 * @property {number} colour Number of its colour, constant while the category exists.
 * @property {string|null} key Its key, a digit or letter; two characters, the first of them 0, are two keys.
 * @property {string|null} heading The heading that it is under, of two-level categories.
 */

/**
 * How often another expert gives a category, too.
 * @typedef {object} CategoryAgreement
 * @property {string} name
 * @property {number} opinions Number of answers with this category, on rows of several experts.
 * @property {number} agreement Fraction of the others' answers on these rows that give it, too.
 */

/**
 * Fraction of rows with a category, of those that have any.
 * @typedef {object} CategoryShare
 * @property {string} name
 * @property {number} share
 */

/**
 * A new answer to an earlier question.
 * @typedef {object} Change
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string|null} label The category; null for skipped.
 * @property {number|null} [row] Row of the question. Questions are renumbered when an earlier answer is undone; with
 *   the row given, no other answer can be changed by mistake.
 */

/**
 * A category and its key.
 * @typedef {object} ChosenKey
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string} name Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 * @property {string|null} letter A digit from 1 to 9 or a letter; with a 0 before it, two keys are pressed. Null for no
 *   key.
 */

/**
 * Rows side by side, with their values in the same order of columns.
 * @typedef {object} CompareReply
 * @property {Card[]} cards
 * @property {ComparedColumn[]} columns In the order of the table.
 * @property {number} n_columns Number of features; of a wide table the columns that differ most are compared.
 * @property {ComparedContext[]} context
 */

/**
 * Rows to show side by side.
 * @typedef {object} Compared
 * @property {number[]} rows
 */

/**
 * Values of the compared rows in one column.
 * @typedef {object} ComparedColumn
 * @property {string} name
 * @property {"number"|"category"} kind
 * @property {number} difference Range of the percentiles, from 0 to 1; of categories, 1 if all rows have different
 *   ones.
 * @property {boolean} is_different Whether half of all rows lie between two of the values, or the categories differ.
 * @property {Feature[]} features One for each row, in the order of the rows.
 */

/**
 * Values of the compared rows in a column that is no feature.
 * @typedef {object} ComparedContext
 * @property {string} name
 * @property {string[]} texts As written in the file; empty for missing ones.
 * @property {boolean} is_different
 */

/**
 * A condition on a column: a range of numbers, or a text that is contained.
 * @typedef {object} Condition
 * @property {string} column
 * @property {number|null} [low]
 * @property {number|null} [high]
 * @property {string|null} [contains]
 */

/**
 * Two categories that experts give to the same row.
 * @typedef {object} Confused
 * @property {string} first
 * @property {string} second
 * @property {number} rows Number of rows with both.
 */

/**
 * Categories of one expert against those of another.
 * @typedef {object} ConfusionTable
 * @property {string|null} first The expert of the lines; null in a table of all experts.
 * @property {string|null} second The expert of the columns.
 * @property {boolean} is_pooled Whether it counts all pairs of experts, each in both directions.
 * @property {string[]} names The categories of lines and columns, at most 40.
 * @property {number[][]} counts Number of pairs of answers.
 */

/**
 * A value of a row in a column that is no feature.
 * @typedef {object} ContextShown
 * @property {string} name The column.
 * @property {string} text As written in the file; empty for a missing value.
 * @property {string|null} [address] The value itself, if it is an address of the web.
 */

/**
 * A category to delete; its asked rows count as skipped, the others become open again.
 * @typedef {object} Delete
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string} name Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 */

/**
 * A row that experts label differently.
 * @typedef {object} Disagreement
 * @property {number} row
 * @property {string} id
 * @property {string} label
 * @property {Opinion[]} opinions
 */

/**
 * All rows that experts label differently.
 * @typedef {object} DisagreementsReply
 * @property {Disagreement[]} disagreements
 */

/**
 * A row that experts label differently.
 * @typedef {object} Disputed
 * @property {number} row
 * @property {string} id
 * @property {string} label Its label until the disagreement is settled.
 * @property {OpinionShown[]} opinions The newest last.
 * @property {NoteOutput|null} note
 */

/**
 * Disputed rows, the earliest first, and the pairs of categories in dispute.
 * @typedef {object} DisputesReply
 * @property {number} total Number of disputed rows, of the chosen pair of categories if given.
 * @property {Disputed[]} rows
 * @property {Confused[]} pairs Pairs of categories in dispute, the most frequent first.
 * @property {Examples[]} examples Of all categories in these rows.
 */

/**
 * Reason why a name may be the wrong one; the expert decides.
 * @typedef {object} Doubt
 * @property {"taken"|"alike"|"invited"} kind In use in another browser now, almost the same as another name, or of an
 *   invited expert.
 * @property {string} words The sentence for people.
 * @property {string[]} names The names that may be meant.
 */

/**
 * A labelled row that is near another one.
 * @typedef {object} Example
 * @property {number} row
 * @property {string} id
 * @property {string} label
 */

/**
 * Rows of a category that nobody disputes, for comparison.
 * @typedef {object} Examples
 * @property {string} name
 * @property {number[]} rows At most six, those that were asked about first.
 * @property {string[]} ids
 * @property {number} n_rows Number of all rows with this label.
 */

/**
 * Labelled rows that are nearest to a row, the nearest first.
 * @typedef {object} ExamplesReply
 * @property {number} row
 * @property {Example[]} examples
 */

/**
 * An expert who works, or has worked, on the project.
 * @typedef {object} ExpertHere
 * @property {string} name
 * @property {number} questions Number of questions answered or skipped.
 * @property {number} comparisons Number of further opinions given without seeing those of others.
 * @property {boolean} is_here Whether the expert is active now.
 */

/**
 * An expert's name in its normalised form, and whether the expert is registered under it.
 * @typedef {object} ExpertReply
 * @property {string} name
 * @property {Doubt|null} doubt Why the name may be the wrong one; then nobody is registered.
 */

/**
 * Reason of a failed request.
 * @typedef {object} Fault
 * @property {string} code The kind of error, for programs.
 * @property {string} message The sentence for people.
 * @property {Object<string, string>|null} [fields] The error of each invalid field.
 */

/**
 * The reply to every failed request.
 * @typedef {object} FaultReply
 * @property {Fault} error
 */

/**
 * One value of a row, and what is needed to draw it against all rows.
 * @typedef {object} Feature
 * @property {string} name The column.
 * @property {"number"|"category"} kind
 * @property {string} value The row's value, and the median or most frequent one.
 * @property {string} usual The row's value, and the median or most frequent one.
 * @property {string} place The value's percentile, the percentage of rows with the same category, or "missing".
 * @property {number} surprise The fraction of rows with values as unusual is ``2 ** -surprise``.
 * @property {number[]} histogram Number of rows in each of at most 30 equal bins of the axis; empty for a category.
 * @property {number|null} lowest The ends of the axis, in the column's own units.
 * @property {number|null} highest The ends of the axis, in the column's own units.
 * @property {string} lowest_words The same as short texts.
 * @property {string} highest_words The same as short texts.
 * @property {number|null} position Positions of the value and of the usual one on the axis, from 0 to 1.
 * @property {number|null} usual_position Positions of the value and of the usual one on the axis, from 0 to 1.
 * @property {"linear"|"log"|"clipped"} axis Skewed columns have a logarithmic axis, or one clipped to the middle of the
 *   rows, whose first and last bins count the rows beyond.
 * @property {string} axis_words A note on the axis; empty for a linear one.
 * @property {CategoryShare[]} shares The most frequent categories, and the row's own if it is not among them.
 * @property {number} n_categories Number of categories.
 * @property {number|null} own_share Fraction of rows with the row's category.
 */

/**
 * Rows that are flagged for later, or no longer.
 * @typedef {object} Flag
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number[]} rows
 * @property {boolean} [is_on]
 */

/**
 * Rows to flag, or to remove the flag from.
 * @typedef {object} FlaggedRows
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number[]|null} [rows]
 * @property {RowQuery|null} [query]
 * @property {number|null} [count] Number of rows that match; if it has changed, nothing is recorded.
 * @property {number|null} [learnt] Run of learning whose suggestions were shown.
 * @property {boolean} [is_on]
 */

/**
 * A format that the labels can be downloaded in.
 * @typedef {object} FormatOffered
 * @property {string} name
 * @property {string} title
 * @property {string} file
 * @property {string|null} reason_against Why there is no such file; null if there is one.
 */

/**
 * All formats of the labels.
 * @typedef {object} FormatsReply
 * @property {FormatOffered[]} formats
 */

/**
 * Rows whose id contains a text; ids that begin with it come first.
 * @typedef {object} FoundReply
 * @property {FoundRow[]} rows
 */

/**
 * A row found by its id.
 * @typedef {object} FoundRow
 * @property {number} row
 * @property {string} id
 * @property {string|null} label
 */

/**
 * Whether rows may have labels beside their category.
 * @typedef {object} FurtherLabels
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {boolean} is_on
 */

/**
 * A row that was given, to find others like it.
 * @typedef {object} GivenRow
 * @property {number} row
 * @property {string} id
 * @property {string|null} label
 */

/**
 * Categories and the heading that they are put under.
 * @typedef {object} Group
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string[]} names
 * @property {string|null} under The heading; null for none.
 */

/**
 * Best guess for a row that has no label.
 * @typedef {object} Guess
 * @property {string} category
 * @property {number} probability
 * @property {boolean} is_unlike Whether the row is unlike all labelled rows, so that it is weak.
 */

/**
 * A log entry.
 * @typedef {object} HistoryEntry
 * @property {number} number
 * @property {string} at
 * @property {string|null} by
 * @property {string} words The entry as a sentence.
 * @property
 *   {"prior"|"answer"|"skip"|"label"|"labels"|"change"|"rename"|"merge"|"delete"|"settle"|"unsure"|"accept"|"reopen"|"reject"|"note"|"flag"|"tag"|"group"|"key"|"option"|"import"|"rows"|"undo"|"lost"}
 *   kind
 * @property {boolean} counts False for entries that were undone, and for the undo itself.
 * @property {number|null} question Number of the question, by which the answer can be changed.
 * @property {number|null} row
 * @property {string|null} id
 * @property {number} n_rows
 * @property {string|null} label
 * @property {string|null} label_now The current label of the row.
 */

/**
 * Log entries, the newest first.
 * @typedef {object} HistoryReply
 * @property {number} total
 * @property {HistoryEntry[]} entries
 */

/**
 * A previewed file of labels that is to be imported.
 * @typedef {object} Import
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string} upload As in the preview.
 * @property {"keep"|"take"|"opinion"} [on_conflict] Rows that have another label: keep that, take the one of the file,
 *   or record it as a further opinion.
 * @property {string|null} [as_expert] Whose the labels are where the file does not say it; null for the expert who
 *   imports them.
 */

/**
 * A row whose label in the file is another one than in the project.
 * @typedef {object} ImportConflict
 * @property {number} row
 * @property {string} id
 * @property {string} mine
 * @property {string} theirs
 */

/**
 * What a file of labels holds, before anything is changed.
 * @typedef {object} ImportPreview
 * @property {string} upload Identifies the file in the request that imports it.
 * @property {string} name
 * @property {string[]} columns Columns of a table; empty for other formats.
 * @property {string|null} id_column
 * @property {string|null} category_column Null where it has to be chosen.
 * @property {number} lines Lines of rows that the project has.
 * @property {number} labelled Rows that the file labels.
 * @property {number} new_labels Rows of these without a label in the project.
 * @property {number} same Rows of these with the same label.
 * @property {number} n_conflicts Rows of these with another label.
 * @property {ImportConflict[]} conflicts The first of them.
 * @property {number} n_unknown Ids that the project does not have.
 * @property {string[]} unknown The first of them.
 * @property {ImportedCategory[]} categories The most frequent first.
 * @property {number} n_new_categories
 * @property {string[]} experts Experts whom the file names.
 * @property {string[]} notes What else the file brings, and what was assumed.
 */

/**
 * A category of a file.
 * @typedef {object} ImportedCategory
 * @property {string} name
 * @property {number} rows Number of rows with it in the file.
 * @property {boolean} is_new Whether the project does not have it.
 */

/**
 * A new invitation.
 * @typedef {object} InvitationReply
 * @property {string} name
 * @property {Doubt|null} doubt Why the name may be the wrong one; then there is no link.
 * @property {string[]} links The same link by several addresses of the server, the best first.
 */

/**
 * An invitation without its link, which is shown only once.
 * @typedef {object} InvitationShown
 * @property {string} name
 * @property {"open"|"used"|"expired"} state Used: a browser has logged in with the link.
 * @property {string} until When the link expires, in UTC.
 */

/**
 * The invitations of this server.
 * @typedef {object} InvitationsReply
 * @property {string|null} me The name to which the browser that asks is bound by an invitation.
 * @property {boolean} can_invite Whether it may invite others.
 * @property {boolean} is_for_others Whether other machines can reach the page.
 * @property {string} words What that means for invitations, in sentences.
 * @property {InvitationShown[]} invitations
 */

/**
 * A file of labels.
 * @typedef {object} LabelUpload
 * @property {string} name Name of the file; its ending determines the format: .csv, .tsv, .txt, .parquet, .arrow, .json
 *   (Label Studio, COCO) or .tps.
 * @property {string} content The file in base64, at most 16 MB.
 * @property {string|null} [id_column] Column of a table; by default it is found.
 * @property {string|null} [category_column] Column of a table; by default it is found.
 */

/**
 * Rows that are labelled directly, in one step.
 * @typedef {object} Labels
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number[]} rows
 * @property {string} label Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 * @property {"low"|"medium"|"high"|null} [confidence] How sure the expert is, if that is stated.
 */

/**
 * A request to learn from the answers so far.
 * @typedef {object} Learn
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 */

/**
 * Number of unlabelled rows that are known, ambiguous and unknown.
 * @typedef {object} LearnCounts
 * @property {number} known
 * @property {number} ambiguous
 * @property {number} unknown
 */

/**
 * The state of learning and its result.
 * @typedef {object} LearnReply
 * @property {"none"|"running"|"ready"|"failed"} state
 * @property {string} message Reason of a failure, or what is missing to begin.
 * @property {string} task
 * @property {number} done
 * @property {number} total
 * @property {string} left Time left in words; empty while it is unknown.
 * @property {string} summary
 * @property {string[]} notes
 * @property {Object<string, unknown>[]} classes One line per category.
 * @property {LearnCounts|null} counts
 * @property {number} n_labelled Number of labelled rows that the model was learnt from.
 * @property {boolean} is_stale Whether labels by hand, or rejected categories, are newer.
 * @property {number|null} generation Number of the model, which is another one after learning again.
 * @property {number} version
 */

/**
 * The suggestion for a row.
 * @typedef {object} LearntRow
 * @property {number} row
 * @property {string} id
 * @property {"named"|"known"|"ambiguous"|"unknown"} verdict "named" for a labelled row.
 * @property {string|null} suggested The most probable category; null for a labelled row.
 * @property {number|null} probability Probability of that category.
 * @property {number|null} margin Probability by which it leads the second.
 * @property {number|null} none Probability of none of the categories.
 * @property {number|null} p_value Fraction of the labelled rows that are at least as strange to the others.
 * @property {RankedCategory[]} ranking Up to five categories, the most probable first.
 */

/**
 * Unlabelled rows with one verdict, the most informative first.
 * @typedef {object} LearntRowsReply
 * @property {number} total
 * @property {LearntRow[]} rows
 */

/**
 * Description of the map.
 * @typedef {object} MapReply
 * @property {"axes"|"sample"|"neighbours"} kind Principal components, a coarse map of a sample, or the layout of all
 *   nearest neighbours.
 * @property {string} words Note for the reader of the map.
 * @property {number} rows
 * @property {number} version
 * @property {BetterMap} better
 */

/**
 * A coefficient and the interval that holds it 19 times in 20.
 * @typedef {object} Measure
 * @property {number} value
 * @property {number} low
 * @property {number} high
 */

/**
 * Addresses of a row's picture or sound, or its outline.
 * @typedef {object} Media
 * @property {"none"|"picture"|"sound"|"outline"} kind
 * @property {string|null} [picture] Addresses.
 * @property {string|null} [sound] Addresses.
 * @property {string|null} [spectrogram] Addresses.
 * @property {Object<string, unknown>|null} [outline] As from :meth:`kernova.media.row_media.RowMedia.outline`.
 * @property {MediaFile[]} files All pictures or sounds; the first one is also given above.
 */

/**
 * Addresses of one of a row's pictures or sounds.
 * @typedef {object} MediaFile
 * @property {string} name A short name of the file; empty if it has none.
 * @property {string|null} [picture] Addresses.
 * @property {string|null} [sound] Addresses.
 * @property {string|null} [spectrogram] Addresses.
 */

/**
 * Categories to merge into one.
 * @typedef {object} Merge
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string} into Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 * @property {string[]} others
 */

/**
 * Rows to label by hand.
 * @typedef {object} MovedRows
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number[]|null} [rows]
 * @property {RowQuery|null} [query]
 * @property {number|null} [count] Number of rows that match; if it has changed, nothing is recorded.
 * @property {number|null} [learnt] Run of learning whose suggestions were shown.
 * @property {string} label Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 */

/**
 * An expert who joins.
 * @typedef {object} NewExpert
 * @property {string} name Name of the expert.
 * @property {boolean} [is_same] Whether a doubt about the name has been answered: it is right.
 */

/**
 * An expert who is invited.
 * @typedef {object} NewInvitation
 * @property {string} name Name of the expert.
 * @property {boolean} [is_same] Whether a doubt about the name has been answered: it is right.
 */

/**
 * A row that looks new beside all rows before its batch.
 * @typedef {object} NewRow
 * @property {number} row
 * @property {string} id
 * @property {string|null} label
 * @property {number} p_value Fraction of held-out rows that are at least as unusual.
 * @property {number} group Rows with the same number lie together; 0 is no group.
 */

/**
 * A remark on a row, in place of an earlier one.
 * @typedef {object} NoteInput
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number} row Row index, counted from 0.
 * @property {string|null} text The remark; null removes it.
 */

/**
 * A remark on a row.
 * @typedef {object} NoteOutput
 * @property {string} text
 * @property {string|null} by
 */

/**
 * Row numbers of rows that match a query.
 * @typedef {object} NumbersWanted
 * @property {RowQuery} [query]
 * @property {number} [offset]
 * @property {number|null} [entries] Log entries, from an earlier reply.
 * @property {number|null} [learnt] Run of learning, from an earlier reply.
 * @property {number} [limit]
 */

/**
 * The last label that an expert gave to a row.
 * @typedef {object} Opinion
 * @property {string|null} expert
 * @property {string} label
 */

/**
 * An opinion with what is known of how it came about.
 * @typedef {object} OpinionShown
 * @property {string|null} expert
 * @property {string} label
 * @property {string|null} at When it was given, in UTC.
 * @property {"low"|"medium"|"high"|null} confidence
 * @property {boolean} is_blind Whether it was given without seeing those of others.
 * @property {number} n_rows Number of rows that were labelled in the same step.
 */

/**
 * The planned overlap, and how much of it is done.
 * @typedef {object} OverlapReply
 * @property {number} fraction Fraction of the rows that several experts are asked about.
 * @property {number} experts Number of experts for each of these rows.
 * @property {number} rows Number of these rows that were asked and labelled so far.
 * @property {number} complete Number of those with enough opinions.
 * @property {number} waiting Number of those that the expert can be asked about now.
 */

/**
 * A plan for rows that several experts are asked about.
 * @typedef {object} OverlapWanted
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number} fraction Fraction of the rows; 0 for none.
 * @property {2|3|4|5} [experts] Number of experts for each of these rows.
 */

/**
 * A page of the rows that match a query.
 * @typedef {object} PageWanted
 * @property {RowQuery} [query]
 * @property {number} [offset]
 * @property {number|null} [entries] Log entries, from an earlier reply.
 * @property {number|null} [learnt] Run of learning, from an earlier reply.
 * @property {number} [limit]
 */

/**
 * Agreement of two experts.
 * @typedef {object} PairAgreement
 * @property {string|null} first Name of an expert; null for the one without a name.
 * @property {string|null} second
 * @property {number} rows Number of rows that both labelled without seeing each other's answer.
 * @property {number} same Number of those with the same label.
 * @property {Measure} raw Fraction of them.
 * @property {Measure|null} kappa Cohen's kappa; null where only one category was given.
 */

/**
 * Precision of the suggestions from every probability on, in steps of 0.01.
 * @typedef {object} PrecisionCurveReply
 * @property {string|null} category Only suggestions of this category; null for all.
 * @property {PrecisionReply[]} points
 * @property {number} promised Precision that the recommended threshold promises.
 * @property {number|null} recommended Lowest threshold that promises it; null if none does.
 * @property {number} answers Answers that the figures are from.
 */

/**
 * How many suggestions from a probability on are right.
 * @typedef {object} PrecisionReply
 * @property {number} threshold Lowest probability of a suggestion.
 * @property {number} rows Unlabelled rows with a suggestion that is at least as probable.
 * @property {number|null} precision Fraction of right ones among the answers above it.
 * @property {number} low Lower end of its 95 % interval (Wilson).
 * @property {number} high Upper end.
 * @property {number} answers Answers above it, each judged by a model without it; rows labelled in one step are one.
 * @property {number} promised Precision that is promised for the unlabelled rows.
 */

/**
 * The suggestions whose precision is wanted.
 * @typedef {object} PrecisionWanted
 * @property {RowQuery} [query]
 * @property {number|null} [learnt] Run of learning, from an earlier reply.
 */

/**
 * Progress of the work before the first question.
 * @typedef {object} Preparation
 * @property {"preparing"|"ready"|"failed"} state Ready: a question can be asked, of a large table from a sample.
 * @property {string} task
 * @property {number} done
 * @property {number} total
 * @property {string} left Time left in words; empty while it is unknown.
 * @property {string} message Reason of a failure.
 * @property {boolean} is_complete Whether everything is prepared; until then, questions come from a sample.
 */

/**
 * The open question, or null with the reason why there is none.
 * @typedef {object} QuestionReply
 * @property {QuestionShown|null} question
 * @property {string|null} message
 */

/**
 * A question with its reason, and the cluster that it represents.
 * @typedef {object} QuestionShown
 * @property {number} row
 * @property {string} id
 * @property {number} number
 * @property {string} reason
 * @property {Object<string, number>} evidence
 * @property {number[]} members Unlabelled rows that the question represents, nearest first; at most 60.
 * @property {string[]} member_ids Ids of those rows.
 * @property {number} n_members Number of unlabelled rows that the question represents.
 * @property {Object<string, number>} known_members Number of labelled rows of the cluster, by label.
 * @property {boolean} is_blind Whether another expert has labelled the row; that answer is hidden until this one.
 * @property {Card} card
 * @property {Guess|null} guess Best guess of the model that was learnt so far; null before the second answer.
 */

/**
 * A request for a question.
 * @typedef {object} QuestionWanted
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {number|null} [row] Ask about this row, which must be unlabelled.
 * @property {"strategy"|"unknown"|"overlap"} [source] Source of the question: the strategy, the rows that the learnt
 *   model does not know, or the rows that other experts have labelled and this one is to label for comparison.
 */

/**
 * A category, and the probability that a row is of it.
 * @typedef {object} RankedCategory
 * @property {string} category
 * @property {number} probability
 */

/**
 * Rows that are not of a category.
 * @typedef {object} RejectedRows
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number[]|null} [rows]
 * @property {RowQuery|null} [query]
 * @property {number|null} [count] Number of rows that match; if it has changed, nothing is recorded.
 * @property {number|null} [learnt] Run of learning whose suggestions were shown.
 * @property {string} label Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 */

/**
 * A new name for a category.
 * @typedef {object} Rename
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string} old Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 * @property {string} new Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 */

/**
 * A column by which rows can be chosen.
 * @typedef {object} ReviewColumn
 * @property {string} name
 * @property {boolean} is_number
 * @property {number|null} low Its lowest value.
 * @property {number|null} high Its highest value.
 */

/**
 * Columns by which rows can be chosen; the first holds the ids.
 * @typedef {object} ReviewColumns
 * @property {ReviewColumn[]} columns
 */

/**
 * Row numbers of a part of the rows that match a query.
 * @typedef {object} ReviewNumbers
 * @property {number} total
 * @property {number[]} rows
 * @property {number} entries
 * @property {number|null} learnt
 */

/**
 * A part of the rows that match a query.
 * @typedef {object} ReviewPage
 * @property {number} total Number of rows that match.
 * @property {ReviewRow[]} rows
 * @property {number} entries Number of log entries that the order is from.
 * @property {number|null} learnt Run of learning that the suggestions are from.
 * @property {number|null} newest The last run of learning.
 */

/**
 * A row in a list to review.
 * @typedef {object} ReviewRow
 * @property {number} row
 * @property {string} id
 * @property {"hand"|"accepted"|"prior"|"unsure"|"skipped"|"suggested"|"unlabelled"} status
 * @property {string|null} label
 * @property {string|null} suggested The suggested category of a row without a label.
 * @property {number|null} probability Of the suggestion; of an accepted one, when it was accepted; of a label by hand,
 *   by a model that was learnt without the row.
 * @property {number|null} margin Probability by which the suggestion leads the second.
 * @property {string|null} other Category that the model prefers to the label of the row.
 * @property {number|null} other_probability Its probability.
 * @property {boolean} looks_wrong Whether the label looks wrong, by confident learning.
 * @property {string|null} expert Who gave the label, accepted it, or skipped the row.
 * @property {string|null} at When.
 * @property {boolean} is_flagged
 * @property {string|null} note
 */

/**
 * An expert who is no longer invited.
 * @typedef {object} Revocation
 * @property {string} name Name of the expert.
 */

/**
 * What a row is called.
 * @typedef {object} RowNoun
 * @property {string} one
 * @property {string} several
 */

/**
 * Rows to list, and their order.
 * @typedef {object} RowQuery
 * @property {string|null} [category] Rows with this label or, without one, with this suggestion.
 * @property {boolean} [without_category] Rows with neither label nor suggestion.
 * @property {"all"|"suggested"|"unlabelled"|"hand"|"accepted"|"prior"|"unsure"|"skipped"|"flagged"|"noted"|"doubtful"}
 *   [status] "suggested": may be accepted; "doubtful": the label looks wrong.
 * @property {string|null} [expert] Rows that this expert labelled, accepted or skipped.
 * @property {string|null} [since] Earliest time of the label.
 * @property {string|null} [before] Labelled before this time.
 * @property {number|null} [lowest] Lowest probability.
 * @property {number|null} [below] Rows with a lower probability.
 * @property {Condition[]} [columns]
 * @property {"probability"|"margin"|"disagreement"|"date"|"table"|"random"} [order] Probability and disagreement: the
 *   highest first; margin: the lowest first; date: the newest first.
 * @property {boolean} [reverse] Reverse the order.
 */

/**
 * The log entry that is on disk now.
 * @typedef {object} Saved
 * @property {number} number Its number in the log, counted from 1.
 * @property {string} words The entry as a sentence.
 * @property {boolean} is_new Whether it added a new category.
 * @property {number} n_rows Number of rows that it labels.
 * @property {string|null} warning Where it is, if the project is no longer in its place.
 */

/**
 * The entry that was saved and the next question, null while the table is being prepared.
 * @typedef {object} SavedReply
 * @property {QuestionShown|null} question
 * @property {string|null} message
 * @property {Saved} saved
 * @property {number} version
 * @property {boolean} repeated Whether the request had been saved under its key before.
 */

/**
 * Selected rows: by their numbers, or all that match a query with the number they had.
 * @typedef {object} SelectedRows
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number[]|null} [rows]
 * @property {RowQuery|null} [query]
 * @property {number|null} [count] Number of rows that match; if it has changed, nothing is recorded.
 * @property {number|null} [learnt] Run of learning whose suggestions were shown.
 */

/**
 * The table, the strategy and the project file.
 * @typedef {object} SessionReply
 * @property {number} version
 * @property {string} data
 * @property {number} rows
 * @property {number} columns
 * @property {string} strategy
 * @property {number} seed
 * @property {string} project The file that stores the answers.
 * @property {"none"|"picture"|"sound"|"outline"} media
 * @property {Preparation} preparation
 * @property {boolean} is_resumed
 * @property {string[]} notes
 * @property {ExpertHere[]} experts
 * @property {RowNoun} noun
 */

/**
 * The label that settles a disagreement.
 * @typedef {object} Settle
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {string} label Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 */

/**
 * A skipped question.
 * @typedef {object} Skip
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number} row Row index, counted from 0.
 * @property {boolean} [unsure] Whether the row is listed among those that the expert cannot decide.
 */

/**
 * Everything that changes during a session.
 * @typedef {object} StateReply
 * @property {number} version
 * @property {false} unchanged
 * @property {Preparation} preparation
 * @property {Category[]} categories
 * @property {number[]} curve Number of categories discovered after each question.
 * @property {number} known_before Number of categories known before the first question.
 * @property {number[]} by_lot Random baseline: expected number of categories discovered by random sampling.
 * @property {Band} baseline_band Limits of the random baseline, which is estimated: about three of four true values lay
 *   between them on tables with known categories.
 * @property {number} asked
 * @property {number} skipped Number of questions skipped by experts who were not unsure.
 * @property {number} named Number of rows with a label.
 * @property {number} accepted Number of those that are accepted suggestions.
 * @property {number} rows
 * @property {Advice} advice
 * @property {number} disagreements
 * @property {number} unsure Number of rows about which an expert was unsure.
 * @property {number} flagged Number of flagged rows.
 * @property {boolean} has_further_labels Whether rows may have labels beside their category.
 * @property {ExpertHere[]} experts
 * @property {LearnReply} learn
 */

/**
 * Rows with a suggestion from a probability on, the most probable first.
 * @typedef {object} SuggestionsReply
 * @property {PrecisionReply} precision
 * @property {number} total
 * @property {LearntRow[]} rows
 */

/**
 * A column of the table view.
 * @typedef {object} TableColumn
 * @property {string} key Its name in requests.
 * @property {string} name
 * @property {"id"|"label"|"status"|"context"|"feature"} kind
 * @property {boolean} is_number
 */

/**
 * A row of the table view.
 * @typedef {object} TableLine
 * @property {number} row
 * @property {string} id
 * @property {string|null} label
 * @property {string} status
 * @property {string|null} link Address of the row elsewhere.
 * @property {string[]} values Values of the columns that were asked for, in their order.
 */

/**
 * Some rows of the table view.
 * @typedef {object} TablePageReply
 * @property {number} version
 * @property {number} total Number of rows that the filter leaves.
 * @property {number} offset
 * @property {TableLine[]} lines
 * @property {string} [problem] Why nothing was looked for, if the filter cannot be read.
 */

/**
 * The columns of the table view.
 * @typedef {object} TableReply
 * @property {number} rows
 * @property {TableColumn[]} columns
 * @property {string[]} shown Keys of the columns that are shown at first.
 * @property {string[]} statuses All statuses that a row can have.
 */

/**
 * A further label of rows, beside their category.
 * @typedef {object} Tag
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number[]} rows
 * @property {string} label Name of a category. Surrounding spaces are removed, repeated ones collapsed.
 * @property {boolean} [is_on] False removes the label.
 */

/**
 * Nothing has changed since the given version.
 * @typedef {object} UnchangedReply
 * @property {number} version
 * @property {true} unchanged
 * @property {Preparation} preparation
 */

/**
 * Undo of an entry of the expert, by default the last.
 * @typedef {object} Undo
 * @property {string|null} [expert] Name of the expert; null for the expert without a name.
 * @property {string|null} [key] Idempotency key, for example a UUID. A request that is repeated with its key is
 *   recorded once and answered again; another request with the same key is rejected.
 * @property {number|null} [entry] Number of the entry; by default the last one.
 * @property {number[]} [others] Numbers of later entries that depend on it, which may be undone before, whoever made
 *   them: those that GET /api/undo lists.
 */

/**
 * A log entry that can be undone, or that is in the way.
 * @typedef {object} UndoEntry
 * @property {number} number
 * @property {string|null} by
 * @property {string} words The entry as a sentence.
 */

/**
 * The expert's last entry, and the ways on if it cannot be undone by itself.
 * @typedef {object} UndoReply
 * @property {UndoEntry|null} last The last entry in effect; null if there is none.
 * @property {string} words Why it cannot be undone by itself; empty if it can.
 * @property {UndoEntry[]} others Later entries that must be undone before it, in order.
 * @property {UndoEntry|null} earlier The expert's latest earlier entry that can be undone by itself.
 * @property {number|null} row Row whose label can be changed instead, if it is a single one.
 * @property {string|null} id The id of that row.
 * @property {string|null} label The present label of that row.
 * @property {number|null} question Number of its question, by which the answer is changed.
 */

/**
 * Addresses that take GET: their parameters, request body and reply.
 * @typedef {{
 *   "/api/agreement": {parameters: {first?: string|null, second?: string|null}, reply: AgreementReply},
 *   "/api/batches": {parameters: {}, reply: BatchesReply},
 *   "/api/disagreements": {parameters: {}, reply: DisagreementsReply},
 *   "/api/disputes": {parameters: {first?: string|null, second?: string|null, limit?: number, offset?: number}, reply: DisputesReply},
 *   "/api/downloads": {parameters: {}, reply: FormatsReply},
 *   "/api/downloads/coco.json": {parameters: {}, reply: unknown},
 *   "/api/downloads/label-studio.json": {parameters: {}, reply: unknown},
 *   "/api/history": {parameters: {before?: number|null, limit?: number}, reply: HistoryReply},
 *   "/api/invitations": {parameters: {}, reply: InvitationsReply},
 *   "/api/learn": {parameters: {}, reply: LearnReply},
 *   "/api/learn/precision": {parameters: {category?: string|null}, reply: PrecisionCurveReply},
 *   "/api/learn/rows": {parameters: {verdict?: "known"|"ambiguous"|"unknown", limit?: number, offset?: number}, reply: LearntRowsReply},
 *   "/api/learn/rows/{row}": {parameters: {row: number}, reply: LearntRow},
 *   "/api/learn/suggestions": {parameters: {threshold?: number|null, category?: string|null, limit?: number, offset?: number}, reply: SuggestionsReply},
 *   "/api/map": {parameters: {}, reply: MapReply},
 *   "/api/overlap": {parameters: {expert?: string|null}, reply: OverlapReply},
 *   "/api/review/columns": {parameters: {}, reply: ReviewColumns},
 *   "/api/rows": {parameters: {find: string, limit?: number}, reply: FoundReply},
 *   "/api/rows/{row}": {parameters: {row: number}, reply: Card},
 *   "/api/rows/{row}/alike": {parameters: {row: number, limit?: number}, reply: AlikeReply},
 *   "/api/rows/{row}/examples": {parameters: {row: number, label?: string|null, limit?: number}, reply: ExamplesReply},
 *   "/api/session": {parameters: {}, reply: SessionReply},
 *   "/api/state": {parameters: {since?: number|null, expert?: string|null}, reply: StateReply|UnchangedReply},
 *   "/api/table": {parameters: {}, reply: TableReply},
 *   "/api/table/rows": {parameters: {sort?: string, descending?: "yes"|"no", find?: string, within?: string, status?: string, label?: string, columns?: string, offset?: number, limit?: number}, reply: TablePageReply},
 *   "/api/undo": {parameters: {expert?: string|null}, reply: UndoReply},
 * }} GetCalls
 */

/**
 * Addresses that take POST: their parameters, request body and reply.
 * @typedef {{
 *   "/api/alike": {parameters: {}, body: AlikeWanted, reply: AlikeReply},
 *   "/api/answers": {parameters: {}, body: Answer, reply: SavedReply},
 *   "/api/categories/delete": {parameters: {}, body: Delete, reply: SavedReply},
 *   "/api/categories/group": {parameters: {}, body: Group, reply: SavedReply},
 *   "/api/categories/key": {parameters: {}, body: ChosenKey, reply: SavedReply},
 *   "/api/categories/merge": {parameters: {}, body: Merge, reply: SavedReply},
 *   "/api/categories/rename": {parameters: {}, body: Rename, reply: SavedReply},
 *   "/api/compare": {parameters: {}, body: Compared, reply: CompareReply},
 *   "/api/disagreements/{row}": {parameters: {row: number}, body: Settle, reply: SavedReply},
 *   "/api/experts": {parameters: {}, body: NewExpert, reply: ExpertReply},
 *   "/api/flags": {parameters: {}, body: Flag, reply: SavedReply},
 *   "/api/further-labels": {parameters: {}, body: FurtherLabels, reply: SavedReply},
 *   "/api/imports": {parameters: {}, body: Import, reply: SavedReply},
 *   "/api/imports/preview": {parameters: {}, body: LabelUpload, reply: ImportPreview},
 *   "/api/invitations": {parameters: {}, body: NewInvitation, reply: InvitationReply},
 *   "/api/invitations/revoke": {parameters: {}, body: Revocation, reply: InvitationsReply},
 *   "/api/labels": {parameters: {}, body: Labels, reply: SavedReply},
 *   "/api/learn": {parameters: {}, body: Learn, reply: LearnReply},
 *   "/api/notes": {parameters: {}, body: NoteInput, reply: SavedReply},
 *   "/api/overlap": {parameters: {}, body: OverlapWanted, reply: SavedReply},
 *   "/api/question": {parameters: {}, body: QuestionWanted, reply: QuestionReply},
 *   "/api/review/accept": {parameters: {}, body: SelectedRows, reply: SavedReply},
 *   "/api/review/flag": {parameters: {}, body: FlaggedRows, reply: SavedReply},
 *   "/api/review/move": {parameters: {}, body: MovedRows, reply: SavedReply},
 *   "/api/review/numbers": {parameters: {}, body: NumbersWanted, reply: ReviewNumbers},
 *   "/api/review/precision": {parameters: {}, body: PrecisionWanted, reply: PrecisionCurveReply},
 *   "/api/review/reject": {parameters: {}, body: RejectedRows, reply: SavedReply},
 *   "/api/review/reopen": {parameters: {}, body: SelectedRows, reply: SavedReply},
 *   "/api/review/rows": {parameters: {}, body: PageWanted, reply: ReviewPage},
 *   "/api/review/unsure": {parameters: {}, body: SelectedRows, reply: SavedReply},
 *   "/api/skips": {parameters: {}, body: Skip, reply: SavedReply},
 *   "/api/tags": {parameters: {}, body: Tag, reply: SavedReply},
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
