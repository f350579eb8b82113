"""Any operations in any order: the store holds what a dict would, and every index agrees with the records."""

from __future__ import annotations

import random

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from impressmem_integrations import ImpressionStore, Limits
from tests.property.moves import CONTENTS, NAMES, Pair

CAPACITY = 6
name = st.sampled_from(NAMES)
labels = st.lists(name, min_size=1, max_size=5, unique=True)
content = st.sampled_from(CONTENTS)


def test_any_operations_leave_what_a_dict_would_hold(client, server):
    class Machine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            server.admin.flushall()
            store = ImpressionStore(client=client, bot="b:{}", user="%", limits=Limits(max_impressions=CAPACITY))
            self.pair = Pair(store)

        @rule(clue=name, content=content, category=name, labels=labels, pin=st.booleans())
        def save(self, clue, content, category, labels, pin):
            self.pair.save(clue, content, category, labels, pin)

        @rule(source=name, into=name)
        def merge_categories(self, source, into):
            self.pair.merge_categories(source, into)

        @rule(sources=st.lists(name, min_size=1, max_size=3), into=name)
        def merge_labels(self, sources, into):
            self.pair.merge_labels(sources, into)

        @rule(sources=st.lists(name, min_size=1, max_size=3), into=name, content=content)
        def merge_clues(self, sources, into, content):
            self.pair.merge_clues(sources, into, content)

        @rule(clue=name, pin=st.booleans())
        def pin(self, clue, pin):
            self.pair.pin(clue, pin)

        @rule(clue=name)
        def confirm(self, clue):
            self.pair.confirm(clue)

        @rule(clue=name)
        def forget(self, clue):
            self.pair.forget(clue)

        @rule()
        def forget_everything(self):
            self.pair.forget_everything()

        @invariant()
        def agrees(self):
            self.pair.agree()

    quick = settings(
        max_examples=60,
        stateful_step_count=25,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=(Phase.generate,),  # 25 steps can be read; shrinking them on a server takes minutes
    )
    run_state_machine_as_test(Machine, settings=quick)


def random_move(pair: Pair, rng: random.Random) -> None:
    def some(most: int) -> list[str]:
        return rng.sample(NAMES, rng.randint(1, most))

    def clue() -> str:
        return f"{rng.choice(NAMES)}{rng.randrange(6)}"

    move = rng.random()
    if move < 0.6:
        pair.save(
            clue(), rng.choice(CONTENTS) + str(rng.randrange(40)), rng.choice(NAMES), some(5), rng.random() < 0.05
        )
    elif move < 0.66:
        pair.merge_categories(rng.choice(NAMES), rng.choice(NAMES))
    elif move < 0.72:
        pair.merge_labels(some(3), rng.choice(NAMES))
    elif move < 0.8:
        pair.merge_clues([clue(), clue()], clue(), rng.choice(CONTENTS))
    elif move < 0.88:
        pair.pin(clue(), rng.random() < 0.3)
    elif move < 0.94:
        pair.confirm(clue())
    elif move < 0.9995:
        pair.forget(clue())
    else:
        pair.forget_everything()


def test_ten_thousand_random_operations_leave_no_problem(client):
    rng = random.Random(20_260_101)
    pair = Pair(ImpressionStore(client=client, user='{"}*:%', limits=Limits(max_impressions=40)))
    for number in range(10_000):
        random_move(pair, rng)
        if number % 250 == 0:
            pair.agree()
    pair.agree()
    assert pair.model.notes
