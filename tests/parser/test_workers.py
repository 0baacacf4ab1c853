"""Work in several processes: what happens when one of them fails or is gone."""

import multiprocessing
import os
from itertools import count, islice
from multiprocessing.connection import Connection

import pytest

from softparse.parser.workers import in_processes


def squares():
    return lambda number: number**2


def roots():
    return lambda number: number**0.5 if number else [][number]


def half_an_answer():
    """A process that is gone while it writes."""

    def send(connection, message):
        os.write(connection.fileno(), message[: len(message) // 2])
        os._exit(1)

    Connection._send = send
    return lambda number: bytes(1000)


def nothing():
    os._exit(1)


def test_answers_come_in_order_and_items_are_read_as_needed():
    numbers = count()
    answers = in_processes(squares, (), numbers, 2)
    assert list(islice(answers, 100)) == [number**2 for number in range(100)]
    assert next(numbers) < 110
    assert len(multiprocessing.active_children()) == 2
    answers.close()
    assert not multiprocessing.active_children()


def test_a_failure_is_raised_here():
    answers = in_processes(roots, (), [4, 0, 9], 2)
    assert next(answers) == 2
    with pytest.raises(IndexError, match="list index out of range"):
        next(answers)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("make", [half_an_answer, nothing])
def test_a_process_that_is_gone(make):
    with pytest.raises(ChildProcessError, match="use fewer --workers"):
        list(in_processes(make, (), range(10), 2))
    assert not multiprocessing.active_children()


def test_the_reader_of_items_fails():
    def items():
        yield 3
        raise ValueError("line 7")

    answers = in_processes(squares, (), items(), 2)
    assert next(answers) == 9  # what comes before it is answered
    with pytest.raises(ValueError, match="line 7"):
        next(answers)
    assert not multiprocessing.active_children()
