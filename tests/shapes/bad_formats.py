"""Invalid files of the other landmark formats, each with its whole message."""
# ruff: noqa: E501 -- one case, one line

M = "[individuals]\n2\n[landmarks]\n1\n[dimensions]\n2\n"
R = "[rawpoints]\n1 2\n3 4\n"
ROW = "\t1\t2\t3\t4\t5\t6"

# fmt: off
BAD_FILES = [  # file name, content, options, message
    ("bad.nts", "", {}, "bad.nts has no line of parameters such as 1 40L 24 0 DIM=2 (40 specimens with labels, 24 numbers each); got nothing. Add it."),
    ("bad.nts", "2 3L 4 0\n", {}, "bad.nts has no line of parameters such as 1 40L 24 0 DIM=2 (40 specimens with labels, 24 numbers each); got '2 3L 4 0'. Add it."),
    ("bad.nts", "1 0 4 0 DIM=2\n", {}, "bad.nts announces 0 rows of 4 numbers; give at least one of each."),
    ("bad.nts", "1 2L 4 0 DIM=2\na\n", {}, "bad.nts ends before label 2 of 2 rows of 4 numbers; it is cut short, or its line of parameters is wrong."),
    ("bad.nts", "1 2 4 0 DIM=2\n1 2 3 4\n5 6 7\n", {}, "bad.nts ends before number 4 of row 2 of 2 rows of 4 numbers; it is cut short, or its line of parameters is wrong."),
    ("bad.nts", "1 1B 4 0 DIM=2\n", {}, "bad.nts ends before the label of row 1 of 1 rows of 4 numbers; it is cut short, or its line of parameters is wrong."),
    ("bad.nts", "1 2L 4 0 DIM=2\nfish a\nfish b\n1 2 3 4\n5 6 7 8\n", {}, "Line 3 of bad.nts (row 1): expected number 1 of 4, got 'fish'; correct it or the line of parameters. Labels have no blanks."),
    ("bad.nts", "1 1 4 0 DIM=2\n1 2 3 4 5\n", {}, "Line 2 of bad.nts: '5' follows the last of 1 row of 4 numbers; correct the line of parameters, or remove it. Labels have no blanks."),
    ("bad.nts", "1 1 5 0 DIM=2\n1 2 3 4 5\n", {}, "bad.nts has 5 numbers per specimen, which are not landmarks of 2 coordinates each; complete the rows."),
    ("bad.nts", "1 2L 4 0 DIM=2\na a\n1 2 3 4\n1 2 3 4\n", {}, "Specimens 1 and 2 of bad.nts have the same id 'a'; ids must differ. The first ids are 'a', 'a'."),
    ("bad.nts", "1 1 4 1 -9 DIM=2\n1 -9 3 4\n", {}, "Landmark 1 of specimen '1' of bad.nts is half missing: [1.0, nan]; give all its coordinates, or none."),
    ("bad.nts", "1 9999999 9999999 0 DIM=2\n1\n", {}, "bad.nts (2.8e-05 MB) needs at least 799,999,840 MB of memory, more than the 80 MB allowed for a file of its size. If you trust it, allow more with memory_mb=... or the environment variable KERNOVA_MEMORY_MB."),
    ("bad.txt", "[individuals]\n2\n[landmarks]\n1\n" + R, {}, "bad.txt has no section [dimensions], or it is empty; add it."),
    ("bad.txt", M, {}, "bad.txt has no section [rawpoints], or it is empty; add it."),
    ("bad.txt", M.replace("\n2\n[land", "\nx\n[land") + R, {}, "Line 2 of bad.txt: [individuals] must be followed by a whole number above 0, got 'x'; correct it."),
    ("bad.txt", M.replace("1\n[dim", "0\n[dim") + R, {}, "Line 4 of bad.txt: [landmarks] must be followed by a whole number above 0, got '0'; correct it."),
    ("bad.txt", M[:-2] + "4\n" + R, {}, "bad.txt has landmarks of 4 dimensions; only 2 or 3 are read."),
    ("bad.txt", M + "[names]\na\n" + R, {}, "bad.txt has 1 lines in [names] for 2 individuals; give one for each."),
    ("bad.txt", M + "[names]\na\na\n" + R, {}, "Specimens 1 and 2 of bad.txt have the same id 'a'; ids must differ. The first ids are 'a', 'a'."),
    ("bad.txt", M + "[labelvalues]\na\n" + R, {}, "bad.txt has 1 lines in [labelvalues] for 2 individuals; give one for each."),
    ("bad.txt", M + "[labels]\nsex site\n[labelvalues]\nF 1\nM\n" + R, {}, "Line 11 of bad.txt: expected a value for each of the labels sex site, which must differ, got 'M'; values have no blanks."),
    ("bad.txt", M + "[groups]\na 1\n" + R, {}, "Line 8 of bad.txt: [groups] must hold names, each followed by a number of specimens, 2 in all; got 'a 1'."),
    ("bad.txt", M + "[groups]\na\n" + R, {}, "Line 8 of bad.txt: [groups] must hold names, each followed by a number of specimens, 2 in all; got 'a'."),
    ("bad.txt", M + "[rawpoints]\n1 2\n", {}, "bad.txt has 1 points in [rawpoints]; 2 individuals of 1 landmarks have 2. It is cut short, or a number is wrong."),
    ("bad.txt", M + R + "5 6\n", {}, "Line 10 of bad.txt (specimen 2): expected the end after 2 points, got '5 6'; correct it, or the numbers of individuals and landmarks."),
    ("bad.txt", M + "[rawpoints]\n1 2\n3 x\n", {}, "Line 9 of bad.txt (specimen 2): expected the 2 numbers of landmark 1, got '3 x'; correct it, or the numbers of individuals and landmarks."),
    ("bad.txt", M + "[rawpoints]\n1 2 3\n3 4\n", {}, "Line 8 of bad.txt (specimen 1): expected the 2 numbers of landmark 1, got '1 2 3'; correct it, or the numbers of individuals and landmarks."),
    ("bad.txt", M + "[rawpoints]\n1 NA\n3 4\n", {}, "Landmark 1 of specimen '1' of bad.txt is half missing: [1.0, nan]; give all its coordinates, or none."),
    ("bad.txt", M + "[options]\n" + R, {}, "Line 7 of bad.txt: the section [options] is not one of Morphologika files; correct or remove it."),
    ("bad.txt", M + M, {}, "Line 7 of bad.txt: the section [individuals] occurs twice; correct or remove it."),
    ("bad.txt", "a" + ROW + "\nb\t1\t2\n", {}, "Line 2 of bad.txt has 2 coordinates, the first row 6; give all specimens the same landmarks, NA for a missing coordinate."),
    ("bad.txt", "a" + ROW + "\nb" + ROW.replace("3", "x") + "\n", {}, "Line 2 of bad.txt has 'x' as coordinate 3, which is not a number; correct it."),
    ("bad.txt", "a" + ROW + "\na" + ROW + "\n", {}, "Specimens 1 and 2 of bad.txt have the same id 'a'; ids must differ. The first ids are 'a', 'a'."),
    ("bad.txt", "a" + ROW + "\n\t" + ROW[1:] + "\n", {}, "Line 2 of bad.txt has 5 coordinates, the first row 6; give all specimens the same landmarks, NA for a missing coordinate."),
    ("bad.txt", "a" + ROW + "\n", {"dimensions": 4}, "bad.txt has 6 numbers per specimen, which are not landmarks of 4 coordinates each; set dimensions to 2 or 3."),
    ("bad.txt", "ID\t" + "\t".join(f"Coord{k}" for k in range(1, 7)) + "\n", {}, "bad.txt has column names but no rows; add at least one row."),
    ("bad.txt", "a" + ROW + "\n", {"negative": "no"}, "negative is 'no'; it must be 'values' or 'missing'."),
    ("bad.csv", "id,length,width\na,1,2\n", {}, "bad.csv has no columns of coordinates; name them x1, y1, x2, y2 and so on. Its columns are 'id', 'length', 'width'."),
]

BAD_SLIDERS = [
    ("", "bad.csv has 0 sliders; expected rows of three landmark numbers (before, slide, after). Complete the file."),
    ("before,slide,after\n", "bad.csv has 0 sliders; expected rows of three landmark numbers (before, slide, after). Complete the file."),
    ("1,2\n", "Line 1 of bad.csv: expected three landmark numbers counted from 1 (before, slide, after), got '1,2'; correct it."),
    ("1,2,3\n0,1,2\n", "Line 2 of bad.csv: expected three landmark numbers counted from 1 (before, slide, after), got '0,1,2'; correct it."),
    ("SLIDERS=2\n1 2 3\n", "bad.csv has 1 sliders; expected 2 rows of three landmark numbers (before, slide, after). Complete the file."),
]
# fmt: on
