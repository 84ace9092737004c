"""Sentences that the command line prints: a change of wording changes this file alone."""

from kernova.cli.prompt import HELP

# --- standard streams ------------------------------------------------------------------------

FULL = "Cannot write to standard output: No space left on device. Saved files are unaffected."
OS_ERRORS = [
    (
        BrokenPipeError(32, "Broken pipe"),
        "Cannot write to standard output: Broken pipe. Saved files are unaffected.",
    ),
    (
        OSError(36, "File name too long", "pictures"),
        "Cannot use pictures: File name too long. Saved files are unaffected.",
    ),
    (
        FileNotFoundError(2, "No such file or directory"),
        "Cannot work in this folder: No such file or directory. Saved files are unaffected.",
    ),
]

# --- discover --------------------------------------------------------------------------------

SAVED_IN = "Answers are saved in fish.kernova-project."
CONTINUING = (
    "Continuing fish.kernova-project: 4 questions asked (1 skipped), 3 rows of 12 labelled, "
    "2 categories."
)
ESTIMATE_LATER = "Estimate: possible from 10 answers and two categories on."
STOP_NOW = "Advice: stop now, "
ALL_SAVED = "All answers are saved in fish.kernova-project; run the same command to continue."
LAST_QUESTION = "That was question 3, the last of this session."
OPEN_PAGE = (
    r"Open (http://127\.0\.0\.1:\d+/login\?code=[\w-]+) in a browser: the link works once, within "
    r"15 minutes\."
)
NEW_LINK = r"kill -USR1 \d+ prints a new link; Ctrl-C stops\."
ENTER = "Press Enter for a new link, Ctrl-C to stop."
OTHERS = "On other machines, open {address} and enter the token."
NO_TLS = (
    "The page is served without TLS: anyone on the network path to 0.0.0.0 can read the token and "
    "all answers."
)
READABLE_TOKEN = (
    "Other users of this machine can read the token file token.txt; make it private with chmod 600."
)
TWO_LINES = (
    "The token in token.txt must have at least 8 characters, all of them printable; its length is "
    "17."
)
NOT_UTF8 = "The token file token.txt is not UTF-8 text."
EMPTY_VARIABLE = (
    "The token in the variable KERNOVA_TOKEN must have at least 8 characters, all of them "
    "printable; its length is 0."
)
ENCRYPTED_KEY = (
    "The TLS key encrypted.pem is encrypted, and the server cannot ask for its password. Decrypt "
    "it with `openssl pkey -in KEY -out PLAIN_KEY`, and make PLAIN_KEY private."
)
OTHER_KEY = "The TLS key other.pem does not belong to the certificate cert.pem."
NO_WEB_EXTRA = (
    "The page needs uvicorn, which is not installed: pip install 'kernova[web]', or pass "
    "--terminal."
)
PORT_TAKEN = (
    "Cannot listen on port {port} of 127.0.0.1: Address already in use. Set --port to another "
    "one, or leave it out."
)
NO_HOST_NAME = "{host} is not an address of this machine: unknown host name."
NO_FILE = "There is no file {name}; check its name and folder."
PIPE = "{name} is a pipe or device, not a regular file; name a file."
CIRCULAR_LINK = (
    "loop.csv cannot be read: Too many levels of symbolic links. Make it readable, or name "
    "another file."
)
LONG_PROJECT_NAME = "Cannot create a project at {name}: File name too long. Choose another path."
LONG_INPUT_NAME = (
    "{name}.csv cannot be read: File name too long. Make it readable, or name another file."
)
LONG_OUTPUT_NAME = "Cannot write {name}.csv: File name too long. Name a file that can be written."
OTHER_LABELS = (
    "The prior labels differ from those that the project was started with. Give the same ones or "
    "none, or start another project."
)
OTHER_STRATEGY = (
    "The project mine uses the strategy 'random' and the seed 7; got 'hms-ci' and 7. Use the "
    "same, or another project."
)
OTHER_COLUMNS = (
    "The project mine belongs to another table: the column 'sex' was removed. Give the table "
    "that the project was started with, or another project."
)
OTHER_VALUES = (
    "The project mine belongs to another table: the row '011' has other values in 'sex'. Give "
    "the table that the project was started with, or another project."
)
OPEN_ELSEWHERE = (
    "The project fish.kernova-project is open in another process. Close it there first."
)
DISAGREEMENT = "Experts disagree about 003: Anna says carp, Bob says pike.\n"
SETTLED = 'Saved: 003 is settled as "carp".\n'
ONE_SUGGESTION = (
    '"cat" begins "catfish". Press Enter for "catfish", or type cat again for a new category.'
)
TWO_SUGGESTIONS = (
    '"CAT" begins "catfish" and "cat". Type more of the name, or type CAT again for a new category.'
)
# By the options.
DISCOVER = {
    "--strategy guess": (
        "There is no strategy named 'guess'. Use one of hms-ci, hms-ci-had, hms-out, "
        "hms-out-had, novelty-groups, novelty-density, nndm, interleave, ms-interleave, random."
    ),
    "--project fish.csv": (
        "fish.csv is not a kernova project, or its beginning is lost. Choose another."
    ),
    "--project no/where": (
        "Cannot create a project at no/where: there is no folder no. Choose another path."
    ),
    "--project p -o p": (
        "Cannot write a table to p: its extension is ''. Use one of .csv, .tsv, .parquet, .arrow, "
        ".feather, .json."
    ),
    "--project p.csv -o p.csv": (
        "Cannot write p.csv: it is one of the tables to read. Name a file that can be written."
    ),
    "": "There is no table to ask about. Name one, or pass --demo.",
    "fish.csv --demo": "--demo has its own table; leave out fish.csv, or leave out --demo.",
    "--demo --images photos --drop kind": (
        "--demo has its own table and images; leave out --images and --drop, or leave out --demo."
    ),
    "fish.csv --questions 3": (
        "--questions limits the questions at the terminal: pass --terminal with it, or leave it "
        "out."
    ),
    "fish.csv --host 0.0.0.0": (
        "The address 0.0.0.0 can be reached from other machines, so it needs an access token. "
        "Set --token, or leave --host at its default."
    ),
    "fish.csv --token short": (
        "--token must have at least 8 characters, all of them printable; its length is 5."
    ),
    "fish.csv --token a token for tests --token-file fish.csv": (
        "--token and --token-file both set the token; leave one of them out."
    ),
    "fish.csv --token-file none": ("Cannot read the token file none: No such file or directory."),
    "fish.csv --token-file .": "Cannot read the token file .: Is a directory.",
    "fish.csv --token-file /dev/zero": (
        "The token file /dev/zero has more than 4096 bytes. It must contain the token and nothing "
        "else."
    ),
    "fish.csv --token-file /dev/null": (
        "The token in /dev/null must have at least 8 characters, all of them printable; its "
        "length is 0."
    ),
    "fish.csv --tls-key fish.csv": (
        "--tls-key needs the certificate of the key; pass it with --tls-cert."
    ),
    "fish.csv --tls-cert none": (
        "Cannot read the TLS certificate none: No such file or directory."
    ),
    "fish.csv --tls-cert fish.csv --tls-key none": (
        "Cannot read the TLS key none: No such file or directory."
    ),
    "fish.csv --tls-cert fish.csv": (
        "fish.csv and fish.csv are not a TLS certificate and its private key in PEM form. Such "
        "files contain BEGIN CERTIFICATE and BEGIN PRIVATE KEY."
    ),
    "fish.csv --host no.such.host.invalid --token a token for tests": (
        "no.such.host.invalid is not an address of this machine: Name or service not known."
    ),
}
# By the lines that are typed; texts or patterns of what is printed.
PROMPT = {
    ("?",): [HELP],
    ("HELP",): [HELP],
    ("",): ["Type the name of a category, skip, or ? for help."],
    ("list",): ["No category has been named yet."],
    ("carp", "list"): [r"│ carp     │    1 │ 0\d\d   │"],
    ("undo",): ["There is nothing to undo."],
    ("carp", "undo"): ["Saved: the last entry is undone."],
    ("=skip", "list"): [r'is "skip", a new category\.'],
    ("all",): ["Usage: all NAME. For a category of that name, type =all"],
    ("all =all of them",): [r'Saved: 1 row is "all of them", a new category\.'],
    ("carp", "change 1 = pike"): [r'Saved: question 1 \(0\d\d\) is now "pike"\.'],
    ("carp", "change 1 ="): [r"Saved: question 1 \(0\d\d\) is now skipped\."],
    ("change 1 = x",): ["There is no question 1 to change: no question has been asked yet."],
    ("change one = x",): ['A question is identified by its number; got "one".'],
    ("change 1",): ["Usage: change 3 = NAME. For a category of that name, type =change 1"],
    ("label 007 = eel", "label 007 = cod"): ['Saved: 007 is "eel".', 'Saved: 007 is "cod".'],
    ("label 7 = eel",): ["No row has the id '7'."],
    ("label 007 =",): [
        "A category needs a name; got ''. To leave the row unlabelled, skip the question."
    ],
    ("carp", "rename carp = Carp"): [
        'Saved: "carp" is renamed to "Carp".',
        r"Categories: Carp \(1\)",
    ],
    ("carp", "pike", "rename carp = pike"): [
        "There is a category 'pike' already. To make one of both, merge 'carp' into it."
    ],
    ("rename carp = x",): ["There is no category 'carp'. There is no category yet."],
    ("a", "b", "c", "merge a = b, c"): [
        'Saved: b, c merged into "a".',
        r"Categories: a \(3\)",
    ],
    ("a", "b", "delete a"): ['Saved: the category "a" is deleted.', r"Categories: b \(1\)"],
    ("delete",): ["Usage: delete NAME. For a category of that name, type =delete"],
    ("delete a",): ["There is no category 'a'. There is no category yet."],
    ("settle 003 = a",): [
        "There is no disagreement about the row '003' to settle: fewer than two experts have "
        "labelled it."
    ],
    ("a", "merge a ="): ["Nothing to merge into 'a': name at least one other category."],
    ("\udce9",): ["A category name must be readable text; got '\\udce9'. Type it again."],
    ("\x1b[A",): ["A category name must be readable text; got '\\x1b[A'. Type it again."],
    ("[bold]x[/]",): [r'is "\[bold\]x\[/\]", a new category\.'],
}

# --- learn and recognize ---------------------------------------------------------------------

LEARNT = "2 classes were learnt from 60 rows of labelled.csv.\n10-fold cross-validation: "
UNKNOWN_CLASS = "(eel): 5, of which 5 (100.0 %) correctly called unknown."
RECOGNIZE = {
    "no label column": (
        "labelled.csv has no labels, so there are no classes to learn. Name the column that "
        "holds them with --label-column."
    ),
    "no labels": (
        "No row of labelled.csv has a label in column 'kind'. Fill in the classes of some rows."
    ),
    "suffix": "Cannot write a model to out.pkl: its extension is '.pkl'. Use one of .kernova.",
    "no folder": (
        "Cannot write nowhere/out.kernova: there is no folder nowhere. Name a file that can be "
        "written."
    ),
    "reject": (
        "--reject is 1.5; it must be a fraction of the rows of known classes, from 0 to below 1."
    ),
    "reject of new rows": (
        "--reject is -0.5; it must be a fraction of the rows of known classes, from 0 to below 1."
    ),
    "reject of memberships": (
        "This model was learnt by the published method, mddkm, with --reject 0.05, which its "
        "thresholds depend on. Learn it again with another reject, or with the method open-set, "
        "which takes any."
    ),
    "group column": (
        "labelled.csv has no column 'pond' to use as group column. Its columns are 'fish', 'a', "
        "'b', 'c', 'kind'."
    ),
    "groups are classes": (
        "Column 'kind' of labelled.csv cannot be both label and group; choose one."
    ),
    "rows per class": (
        "--max-rows-per-class is 'few'; it must be 'auto' or a whole number of at least 1."
    ),
    "a class named unknown": (
        "A class of labelled.csv is called 'unknown', which is the verdict on rows of no class. "
        "Rename it, or leave the labels of these rows empty."
    ),
    "no model": "labelled.csv is not a kernova model. Pass a model file written by kernova.",
    "other model": (
        "model.kernova holds a SpatialDepth, not a model of classes. Pass a file written by "
        "kernova learn."
    ),
    "other columns": (
        "new.csv does not match the training table: The columns of the new table are not those "
        "of the known one: missing 'b'; extra 'B'. Give both tables the same columns."
    ),
    "over its input": (
        "Cannot write new.csv: it is one of the tables to read. Name a file that can be written."
    ),
    "text for numbers": (
        "Column 'c' held numbers in fit, but row 1 now holds 'high'; correct it or drop the column."
    ),
    "missing values": (
        "new.csv has missing values, counted by column: 'c' 1. Fill them in, or pass --missing "
        "auto, --missing drop or --missing fill."
    ),
}

# --- outliers and simulate -------------------------------------------------------------------

RANKED_ONLY = [
    "120 rows ranked by detector ensemble, the most outlying first.",
    "No row is called an outlier without a rule: --max-false-alarm 0.05 would set a threshold with "
    "a proven bound, --contamination 0.05 one by a fraction of the rows.",
]
TOO_MANY_NEIGHBOURS = "150 neighbours were asked for, but each row has 119 others; all are taken."
# By the options.
SIMULATE = {
    "--picture curves.txt": (
        "Cannot write a picture to curves.txt: its extension is '.txt'. Use one of .png, .svg, "
        ".pdf."
    ),
    "--error-rate 1.5": "--error-rate must be at least 0 and below 1; got 1.5.",
    "--strategies luck": (
        "There is no strategy named 'luck'. Use one of hms-ci, hms-ci-had, hms-out, hms-out-had, "
        "novelty-groups, novelty-density, nndm, interleave, ms-interleave, random."
    ),
}

# --- notes -----------------------------------------------------------------------------------

NOTES_INTERRUPTED = (
    "Interrupted. {} of {} recordings are done, and their notes are in found; run the same command "
    "again to continue."
)
NOTES_INTERRUPTED_WITHOUT_OUTPUT = "Interrupted; no output was requested with -o."
NOTES = {
    "past the end": (
        "marks.txt cannot be used: 'buzz' from 99 s to 99.1 s lies past the end of the recording "
        "({seconds} s). Correct it."
    ),
    "overlap": (
        "marks.txt cannot be used: 'buzz' from 1 s to 1.1 s and 'buzz' from 1.05 s to 1.2 s "
        "overlap. Correct it."
    ),
    "overlap in a check": (
        "marks.txt cannot be used: 'buzz' from 1 s to 1.1 s and 'buzz' from 1.05 s to 1.2 s "
        "overlap. Correct it."
    ),
    "a class called none": (
        "A class labelled 'none' cannot be distinguished from no note; use another label."
    ),
    "no labels": "There is no labelled note in marks.txt.",
    "unknown label to learn": (
        "No note is labelled 'trill'. The labels are 'buzz', 'falling', 'rising'."
    ),
    "unknown label to find": (
        "The model knows no class 'trill'. Its classes are 'buzz', 'falling', 'rising'."
    ),
    "empty labels": "--labels got ' ,'; name at least one label.",
    "no annotation": (
        "lesson.wav has no annotation: give the annotation file right after the recording."
    ),
    "unknown format": (
        "The annotation format of marks.txt cannot be recognised from its first line, 'what is "
        "this'; choose --annotation-format from 'raven', 'audacity', 'textgrid', 'csv'."
    ),
    "unknown column": (
        "marks.txt has no column 'start'; its columns are 'onset', 'end', 'label'. Name the "
        "column of the start: --column start=NAME."
    ),
    "half a column": "--column got 'label'; write ROLE=NAME, such as label=Species.",
    "a silent note": "A clip of 'a' is silent; leave it out, or correct its annotation.",
    "a note shorter than a frame": (
        "A note lasts 1.0 ms, which is less than one frame of 8.0 ms; leave it out."
    ),
    "a recording of no length": (
        "x.wav holds no sound: it is 0 s long. Leave it out, or record or copy it again."
    ),
    "no model": "lesson.wav is not a kernova model. Pass a model file written by kernova.",
    "other model": (
        "model.kernova holds a SpatialDepth, which finds no notes. Pass a file written by kernova "
        "notes learn."
    ),
    "empty folder": (
        "There is no recording in the folder empty: no file in it or its subfolders ends in "
        ".wav, .flac, .ogg, .oga, .aif, .aiff, .mp3."
    ),
    "figures without a folder": "Figures need a folder; name one with -o.",
    "a file for a folder": (
        "lesson.wav is a file; -o needs a folder for the notes of each recording."
    ),
    "combined suffix": (
        "Cannot write a combined table to all.txt: its extension is '.txt'. Use one of .csv."
    ),
    "over a file of others": (
        "Cannot write night/dusk.csv: the file exists, and no search wrote it, or it was changed "
        "since. Move it away, or name another folder."
    ),
    "threshold": "--threshold must be a number of at least 0; got nan.",
    "no channel": "--channel must be mean or a channel number of at least 1; got '0'.",
    "a channel to learn that is not there": (
        "lesson.wav has no channel 2; it has 1. Use 'mean' or a number from 1 to 1."
    ),
    "tolerance": "--tolerance must be a number of at least zero; got -1.0.",
    "model suffix": (
        "Cannot write a model to out.pkl: its extension is '.pkl'. Use one of .kernova."
    ),
}

# --- species ---------------------------------------------------------------------------------

SPECIES = {
    "no question": (
        "Set exactly one of --unknown NAME (is this group new?), --each (would each group look "
        "new?) and --test FILE (are single specimens new?); got none."
    ),
    "two questions": (
        "Set exactly one of --unknown NAME (is this group new?), --each (would each group look "
        "new?) and --test FILE (are single specimens new?); got --unknown and --each."
    ),
    "no groups": (
        "The groups of the specimens of fish.tps are not known. Set --groups with "
        "--group-column, or --id-pattern."
    ),
    "no group column": "The column of groups in groups.csv is not named; set --group-column.",
    "wrong group column": (
        "groups.csv has no column 'genus' to use as group column. Its columns are 'specimen', "
        "'species'."
    ),
    "wrong column of a wide table": (
        "wide.csv has no column 'genus' to use as group column. Its columns are 'species'."
    ),
    "specimens without a group": (
        "79 of 80 specimens are not in column 'specimen' of short.csv: 'carp_1', 'carp_2', "
        "'carp_3', 'carp_4', 'carp_5', 'carp_6', 'carp_7', 'carp_8', 'carp_9', 'carp_10', "
        "'carp_11', 'carp_12', 'carp_13', 'carp_14', 'carp_15', 'carp_16', 'carp_17', 'carp_18', "
        "'carp_19', 'carp_20', and 59 more. Its first id is 'carp_0'; ids must be the same text."
    ),
    "misspelt group": "No specimen belongs to a group 'Newts'. Similar names: 'newt'.",
    "no such group": (
        "No specimen belongs to a group 'trout'. There are 'carp', 'eel', 'newt', 'pike'."
    ),
    "pattern and column": (
        "Groups come either from a column or from a pattern in the ids. Use --id-pattern without "
        "--groups and --group-column, or leave it out."
    ),
    "single specimens": (
        "There are too few known specimens beside 's1': 4, no two of one group. Half of a group "
        "is learnt from and half is held out, so some group must have 2 or more."
    ),
    "single specimens, each": (
        "There are too few known specimens beside 's0': 4, no two of one group. Half of a group "
        "is learnt from and half is held out, so some group must have 2 or more."
    ),
    "two landmarks": (
        "The specimens of pins.csv have 2 landmarks each; to compare shapes takes at least 3."
    ),
    "no large group": "No group has 99 specimens; the largest has 24. Reduce --least-specimens.",
    "other landmarks": (
        "The known specimens (fish.tps) have {n} landmarks of 2 coordinates, but the new ones "
        "(few.tps) have 3 of 2. Digitise the same landmarks."
    ),
    "known specimens": (
        "12 of 12 specimens of newts.tps are in fish.tps too, coordinate for coordinate: "
        "'newt_68' is 'newt_68'. Leave them out of one of the files."
    ),
    "feature of a missing landmark": (
        "Feature 'long' (line 1 of f.txt) needs landmark {one_more}, but the specimens have {n}; "
        "correct the formula, or digitise the landmark."
    ),
    "no feature file": (
        "There is no file nofile.toml; check its name and folder. Built-in features: 'cichlids'."
    ),
    "no file": "There is no file nofile.tps; check its name and folder.",
    "low confidence": "The confidence must be at least 0.5; got 0.3.",
    "false discovery rate": "--false-discovery-rate must be a number above 0 and below 1; got 2.0.",
    "bandwidth rule": (
        "There is no bandwidth rule named 'wide'. Use one of half-nearest, "
        "nearest, reach, median, or a "
        "positive number."
    ),
    "score": (
        "--score is 'novelty'; choose one of likelihood-ratio, neighbors, mahalanobis, depth."
    ),
    "no such covariate": "groups.csv has no covariate 'sex'. There is only size.",
    "covariate of single specimens": (
        "Single specimens are tested without covariates, which adjust the comparison of groups. "
        "Leave out --covariate, or test a group with --unknown NAME or --each."
    ),
    "size twice": (
        "Centroid size is either one of the variables to compare or a covariate to adjust for. "
        "Leave out --size, or the covariate size."
    ),
    "one side": (
        "The consensus of fish.tps is not symmetric, so pairs of landmarks on the left and on the "
        "right were not found. Leave out --symmetric, or digitise both sides."
    ),
    "sliders of other landmarks": (
        "--sliders names landmark 99, counted from 1, but the specimens of fish.tps have {n}. "
        "Correct the number."
    ),
    "over its sliders": (
        "Cannot write s.csv: it is one of the tables to read. Name a file that can be written."
    ),
    "aligned suffix": (
        "Cannot write landmarks to a.png: its extension is '.png'. Use one of .tps, .nts, .nex, "
        ".csv, .tsv."
    ),
    "over its input": (
        "Cannot write groups.csv: it is one of the tables to read. Name a file that can be written."
    ),
    "report suffix": (
        "Cannot write a page to page.pdf: its extension is '.pdf'. Use one of .html, .htm."
    ),
}

# --- reproduce -------------------------------------------------------------------------------

NO_NEW_FOLDER = "Cannot make the folder {folder}: Not a directory. Name another."
NO_HMS_SET = (
    "There is no abalone.parquet in {folder}; put the set there, with its classes in a column "
    '"label".'
)
# By the options.
RKOF = {
    "--data nowhere": "There is no folder nowhere; name the one that holds the data sets.",
    "--datasets titanic": (
        "There is no data set 'titanic'; choose from kdd_u2r, kdd_u2r_idf, mammography, "
        "ann_thyroid, shuttle."
    ),
}

SUITE = {
    "--problems iris": ("There is no problem named 'iris'. Use some of tiny-a, tiny-b."),
    "--sets yeast": "--suite has its own problems; leave out --sets.",
}
NO_SUITE = "--problems sets what the suite runs: pass --suite with it, or leave it out."

# --- parameters of the library, as options ----------------------------------------------------

# Command, message of the library, message of the command line.
IN_OPTIONS = [
    ("novelty", "Set label_column.", "Set --label-column."),
    ("novelty", "Set `drop`, or `missing`.", "Set --drop, or --missing."),
    ("novelty", "Use missing='fill' or missing=\"drop\".", "Use --missing fill or --missing drop."),
    ("novelty", "With holdout=0.5 that takes 9 rows.", "With --holdout 0.5 that takes 9 rows."),
    ("novelty", "holdout must be below 1; got 2.", "--holdout must be below 1; got 2."),
    (
        "novelty",
        "Too few. confidence is 95; choose less.",
        "Too few. --confidence is 95; choose less.",
    ),
    ("novelty", "x.csv has missing values.", "x.csv has missing values."),
    ("novelty", "There is no column 'id_column'.", "There is no column 'id_column'."),
    ("novelty", "id_column.csv is empty.", "id_column.csv is empty."),
    ("novelty", "Set n_neighbors.", "Set n_neighbors."),
    ("outliers", "n_neighbors must be 1 or more.", "--neighbors must be 1 or more."),
    ("recognize", "Set label_column='true class'.", "Set --label-column 'true class'."),
    ("recognize", "Reduce n_nearest.", "Reduce --nearest."),
    ("recognize", "Pass audio=... to measure them.", "Pass --audio FOLDER to measure them."),
    ("species", "Pass each=True or unknown=NAME.", "Pass --each or --unknown NAME."),
    ("species", "each=False has no option.", "each=False has no option."),
    ("notes learn", "Say columns={'start': ...}.", "Say --column start=NAME."),
    ("notes learn", "Say columns={'label': 'Species'}.", "Say --column label=Species."),
    ("notes learn", "Choose format= from a, b.", "Choose --annotation-format from a, b."),
    ("notes find", "Choose format='csv'.", "Choose --format csv."),
    ("discover", "Set `token`, or leave `host`.", "Set --token, or leave --host."),
    ("ksd", "Leave `data` out; random_state is 5.", "Leave --data out; --seed is 5."),
]
# By the command line.
COMMANDS = {
    "novelty rows.csv rows.csv --holdout 0.5": (
        "No threshold keeps false alarms below 0.05: 20 held-out rows cannot prove a rate below "
        "0.14. Hold out at least 59 rows, or set --max-false-alarm above 0.14. With --holdout 0.5 "
        "that takes 118 rows in all; there are 40."
    ),
    "novelty rows.csv rows.csv --holdout 1.5": (
        "--holdout must be 'auto', a fraction of the rows above 0 and below 1, or a number of rows "
        "of at least 1; got 1.5."
    ),
    "outliers rows.csv --method rkof --neighbors 0": (
        "--neighbors must be a whole number of 1 or more, a list of such numbers, or "
        '"auto"; got (0,).'
    ),
    "outliers rows.csv --max-false-alarm 0.1 --contamination 0.1": (
        "--max-false-alarm 0.1 and --contamination 0.1 both set the threshold. Give only one."
    ),
    "learn rows.csv -o model.kernova": (
        "rows.csv has no labels, so there are no classes to learn. Name the column that holds them "
        "with --label-column."
    ),
    "simulate rows.csv --label-column length --error-rate 2": (
        "--error-rate must be at least 0 and below 1; got 2.0."
    ),
    "discover selections.txt --terminal": (
        "selections.txt contains times of sounds but no measurements. Pass --audio DIR|COLUMN to "
        "measure their recordings."
    ),
}
OUTLIER_NOTES = [
    "In each half: 20 neighbours were asked for, but each row has 19 others; all are taken.",
    "With so few rows the bound can only be proven by calling none an outlier. Give more rows, or "
    "set a larger --max-false-alarm.",
]

ONE_LABEL = (
    "This project gives each row one label; to allow further ones, start it with --multiple-labels."
)
NO_NOUN = (
    "kernova: --noun must say what a row is called, as in 'galaxy', or with its plural, as in "
    "'leaf,leaves'; got '7'.\n"
)
