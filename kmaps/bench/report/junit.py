"""JUnit XML, which CI systems show: a suite of cases that failed, were skipped, or passed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

Verdict = Literal["failure", "error", "skipped", ""]


@dataclass(frozen=True)
class Case:
    """A case of a suite.

    Parameters
    ----------
    name : str
    group : str
        Where it belongs, a run say.
    verdict : {"failure", "error", "skipped", ""}
        How it ended; nothing where it passed. An error is what could not be decided.
    message : str
        Why, in one line.
    """

    name: str
    group: str
    verdict: Verdict = ""
    message: str = ""


def junit(suite: str, cases: Iterable[Case]) -> str:
    """Return a JUnit XML document.

    Examples
    --------
    >>> print(junit("kmaps check", [Case("digits linear", "quickstart", "failure", "worse")]))
    <?xml version='1.0' encoding='utf-8'?>
    <testsuite name="kmaps check" failures="1" errors="0" skipped="0" tests="1">
      <testcase name="digits linear" classname="quickstart">
        <failure message="worse" />
      </testcase>
    </testsuite>
    <BLANKLINE>
    """
    cases = list(cases)
    root = ElementTree.Element("testsuite", name=suite)
    for verdict, attribute in (
        ("failure", "failures"),
        ("error", "errors"),
        ("skipped", "skipped"),
    ):
        root.set(attribute, str(sum(case.verdict == verdict for case in cases)))
    root.set("tests", str(len(cases)))
    for case in cases:
        element = ElementTree.SubElement(root, "testcase", name=case.name, classname=case.group)
        if case.verdict:
            ElementTree.SubElement(element, case.verdict, message=case.message)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
