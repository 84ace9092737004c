"""Plain model of a session: the notes of an expert, without logs or states."""

import copy


class NonsenseError(Exception):
    """A request that does not fit the present state."""


class Model:
    """A label per row, rows labelled together, and the latest opinion of each expert."""

    def __init__(self):
        self.labels = {}  # row -> label, or None where skipped; in the order of labelling
        self.asked = []  # rows of the questions
        self.cluster = {}  # row named with a question's row -> that row
        self.words = {}  # row -> {expert: (name, the row it came with)}, the latest last
        self.settled = {}
        self.accepted = set()  # rows whose label is a suggestion that was accepted
        self.unsure = set()  # rows that were left undecided
        self.remarks = Remarks()

    def prior(self, known):
        self.labels.update(known)

    # --- requests -------------------------------------------------------------------------

    def answer(self, by, row, name, others=()):
        _only_if(row not in self.labels)
        self.asked.append(row)
        self._name(by, row, name, None)
        for other in others:
            self._name(by, other, name, row)

    def give(self, by, rows, name):
        for row in rows:
            self._name(by, row, name, None)

    def pass_over(self, by, row):
        pass

    # --- reviews --------------------------------------------------------------------------

    def leave_undecided(self, by, row):
        self.answer(by, row, None)
        self.unsure.add(row)

    def accept(self, by, rows, name):
        for row in rows:
            if self.labels.get(row) is None:
                self._forget(row)
                self.labels[row] = name
                self.accepted.add(row)

    def mark_unsure(self, by, rows):
        self.give(by, rows, None)
        self.unsure |= set(rows)

    def reopen(self, by, rows):
        for row in rows:
            self._forget(row)
            if row in self.asked:
                self.labels[row] = None
            else:
                self.labels.pop(row, None)

    def reject(self, by, rows, name):
        self.reopen(by, [row for row in rows if self.labels.get(row) == name])
        self.remarks.reject(rows, name)

    def remark(self, by, what, *arguments):
        getattr(self.remarks, what)(*arguments)

    # --- corrections ----------------------------------------------------------------------

    def change(self, by, asked, name):
        _only_if(asked in self.asked)
        followers = [row for row, leader in self.cluster.items() if leader == asked]
        self._name(by, asked, name, None)
        for row in followers:
            self._name(by, row, name, asked)
            if name is None and row not in self.asked:
                del self.labels[row], self.cluster[row]

    def rename(self, by, old, new):
        _only_if(old in self.categories and new not in self.categories)
        self._replace({old}, new)
        self.remarks.rename([old], new)

    def merge(self, by, into, others):
        _only_if(others and into not in others and {into, *others} <= set(self.categories))
        self._replace(set(others), into)
        self.remarks.rename(others, into)

    def delete(self, by, name):
        _only_if(name in self.categories)
        self.settled = {row: one for row, one in self.settled.items() if one != name}
        for row in list(self.words):
            words = self.words[row]
            self.words[row] = {who: word for who, word in words.items() if word[0] != name}
        self.remarks.delete(name)
        for row in [row for row, label in self.labels.items() if label == name]:
            self.cluster.pop(row, None)
            self.accepted.discard(row)
            if self.words.get(row):
                self.labels[row], leader = list(self.words[row].values())[-1]
                if leader is not None:
                    self.cluster[row] = leader
            elif row in self.asked:
                self.labels[row] = None
            else:
                del self.labels[row]

    def settle(self, by, row, name):
        _only_if(len(self.words.get(row, ())) > 1)
        self.settled[row] = self.labels[row] = name
        self.cluster.pop(row, None)
        self.accepted.discard(row)
        self.unsure.discard(row)

    # --- results --------------------------------------------------------------------------

    @property
    def categories(self):
        found = {}
        for row, name in self.labels.items():
            if name is not None:
                found.setdefault(name, []).append(row)
        return {name: tuple(rows) for name, rows in found.items()}

    @property
    def curve(self):
        order = list(self.labels)
        met = [
            {self.labels[row] for row in order[: order.index(asked) + 1]} - {None}
            for asked in self.asked
        ]
        return [len(names) for names in met]

    @property
    def progress(self):
        """Counts of answers, and of categories whose first row was asked about."""
        answered = [row for row in self.asked if self.labels[row] is not None]
        met = [rows for rows in self.categories.values() if rows[0] in self.asked]
        last_new = max([self.asked.index(rows[0]) + 1 for rows in met], default=0)
        return {
            "asked": len(self.asked),
            "seen": len(self.categories),
            "last_new": last_new,
            "n_named": len(answered),
            "named_since": len([row for row in self.asked[last_new:] if row in answered]),
            "n_once": sum(len(set(rows) & set(self.asked)) == 1 for rows in met),
            "sum_of_firsts": sum(answered.index(rows[0]) + 1 for rows in met),
        }

    @property
    def opinions(self):
        return {
            row: {who: name for who, (name, _) in words.items()}
            for row, words in self.words.items()
            if words
        }

    @property
    def disagreements(self):
        return {
            row: words
            for row, words in self.opinions.items()
            if len(set(words.values())) > 1 and row not in self.settled
        }

    def _forget(self, row):
        """Remove what was said about a row, but for its place in the order."""
        self.cluster.pop(row, None)
        self.words.pop(row, None)
        self.settled.pop(row, None)
        self.accepted.discard(row)
        self.unsure.discard(row)

    def _name(self, by, row, name, leader):
        self.labels[row] = name
        self.cluster.pop(row, None)
        self.accepted.discard(row)
        self.unsure.discard(row)
        if leader is not None:
            self.cluster[row] = leader
        if name is None:
            self.words.pop(row, None)
            self.settled.pop(row, None)
            return
        words = self.words.setdefault(row, {})
        words.pop(by, None)
        words[by] = (name, leader)
        if self.settled.get(row) != name:
            self.settled.pop(row, None)

    def _replace(self, old, new):
        def replaced(name):
            return new if name in old else name

        self.labels = {row: replaced(name) for row, name in self.labels.items()}
        self.settled = {row: replaced(name) for row, name in self.settled.items()}
        for words in self.words.values():
            for who, (name, leader) in words.items():
                words[who] = (replaced(name), leader)


class Remarks:
    """Notes, flags, further labels, rejected categories, headings and keys."""

    def __init__(self):
        self.notes, self.flagged, self.headings, self.keys = {}, [], {}, {}
        self.tags, self.rejected = {}, {}  # row -> names, in order

    def note(self, row, text):
        self.notes.pop(row, None)
        if text is not None:
            self.notes[row] = text

    def flag(self, rows, is_on):
        self.flagged = [row for row in self.flagged if is_on or row not in rows]
        self.flagged += [row for row in rows if is_on and row not in self.flagged]

    def tag(self, rows, name, is_on):
        for row in rows:
            names = self.tags.pop(row, [])
            left = [one for one in names if one != name or is_on]
            left += [name] * (is_on and name not in names)
            if left:
                self.tags[row] = left

    def reject(self, rows, name):
        for row in rows:
            names = self.rejected.setdefault(row, [])
            names += [name] * (name not in names)

    def group(self, names, under):
        for name in names:
            self.headings.pop(name, None)
            if under is not None:
                self.headings[name] = under

    def choose_key(self, name, key):
        self.keys = {one: used for one, used in self.keys.items() if key is None or used != key}
        self.keys[name] = key

    def rename(self, old, new):
        for labels in (self.tags, self.rejected):
            for row, names in labels.items():
                replaced = [new if name in old else name for name in names]
                labels[row] = list(dict.fromkeys(replaced))
        for values in (self.headings, self.keys):
            for name in old:
                if name in values:
                    value = values.pop(name)
                    values.setdefault(new, value)

    def delete(self, name):
        self.headings.pop(name, None)
        self.keys.pop(name, None)
        for labels in (self.tags, self.rejected):
            for row in list(labels):
                labels[row] = [one for one in labels[row] if one != name]
                if not labels[row]:
                    del labels[row]


def _only_if(makes_sense):
    if not makes_sense:
        raise NonsenseError


class Notebook:
    """A model and its requests, so that any of them can be undone."""

    def __init__(self, known):
        self.known = known
        self.steps = []  # (number, expert, what, arguments) that count
        self.n_said = int(bool(known))
        self.model = self._replayed([])

    def say(self, by, what, *arguments):
        after = copy.deepcopy(self.model)
        getattr(after, what)(by, *arguments)
        self.model = after
        self.n_said += 1
        self.steps.append((self.n_said, by, what, arguments))

    def undo(self, by):
        """Undo the last request, of an expert if one is named; False if there is none."""
        mine = [step for step in self.steps if by in (None, step[1])]
        if not mine:
            return False
        steps = [step for step in self.steps if step is not mine[-1]]
        self.model = self._replayed(steps)
        self.steps = steps
        self.n_said += 1
        return True

    def _replayed(self, steps):
        model = Model()
        model.prior(self.known)
        for _, by, what, arguments in steps:
            getattr(model, what)(by, *arguments)
        return model
