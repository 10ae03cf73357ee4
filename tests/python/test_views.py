# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is shown in a terminal and in a notebook: HTML that is well formed, in which nothing of a name or text is markup."""
import html.parser
import json

import numpy
import pytest
import tenon

VOID = {"br", "hr", "img"}


def text_of(view):
    """The text of an object's HTML; every tag is closed, in order."""
    open_tags, seen = [], []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "b", "span", "code", "div"}, tag
            if tag not in VOID:
                open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags and open_tags.pop() == tag

        def handle_data(self, data):
            seen.append(data)

    parser = Parser(convert_charrefs=True)
    parser.feed(view._repr_html_())
    parser.close()
    assert not open_tags
    return "".join(seen)


def test_programs_and_functions(program):
    assert "add(f32[?], f32[?]) -> f32[?]" in text_of(program)
    (add,) = [one for one in program.info if one.name == "add"]
    assert "input 1" in text_of(add) and "f32[?]" in text_of(add)
    said = program.explain()
    assert isinstance(said, str) and repr(said) == str(said)
    assert "runs:" in text_of(said) and "<b>*" in said._repr_html_()
    assert "add" in text_of(program.dump())


def test_kernels(saxpy):
    info = tenon.KernelInfo.of(saxpy)
    assert str(info) == "saxpy(in f32 x, inout f32 y, f32 a, i32 n)"
    shown = text_of(info)
    assert "saxpy, 128 x 1 x 1 threads" in shown and "written" in shown and "binding" in shown


def test_nothing_is_markup():
    nasty = "<script>alert('x')</script> & <b>"
    assert text_of(tenon.Text(f"* {nasty}\n{nasty}: error: {nasty}")) == f"* {nasty}\n{nasty}: error: {nasty}"
    info = tenon.FunctionInfo(nasty, nasty, (tenon.TypeInfo(nasty, "f32", (-1,)),), (), False, False)
    assert nasty in text_of(info) and "<script>" not in info._repr_html_()
    found = tenon.Findings((tenon.Finding("error", nasty, nasty, 1, 2),))
    assert f"{nasty}:1:2" in text_of(found)
    trace = tenon.Trace(tenon.default_device())
    trace.events = (tenon.Event(nasty, nasty, nasty, 0.0, 0.0, {nasty: nasty + '"'}),)
    assert nasty in text_of(trace) and "<script>" not in trace._repr_html_()


def test_findings_of_a_tool(program):
    with pytest.raises(tenon.ToolError) as caught:
        tenon.compile("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = arith.addf %a, %b : tensor<4xf32>\n"
                      "  return %0 : tensor<4xf32>\n}\n")
    (found,) = caught.value.findings
    assert (found.severity, found.line, found.column) == ("error", 2, 23) and found.file.endswith("program.mlir")
    assert found.message.startswith("use of undeclared SSA value name\n")
    assert "use of undeclared" in text_of(caught.value.findings) and "error" in repr(caught.value.findings)
    many = tenon.Findings.of("a.cu:3: warning: one\n    text\nerror: two\na.mlir:1:2: note: three\n")
    assert [(one.severity, one.place) for one in many] == [("warning", "a.cu:3"), ("error", ""), ("note", "a.mlir:1:2")]
    assert many[0].message == "one\n    text" and repr(tenon.Findings.of("fine\n")) == "no findings"


def test_a_trace_of_a_kernel(saxpy):
    x = numpy.ones(300, numpy.float32)
    saxpy(x, x, 0.0, 300, grid=3)  # loaded
    with tenon.trace() as trace:
        saxpy(x, x, 2.0, 300, grid=3)
        with pytest.raises(RuntimeError, match="is traced already"):
            tenon.trace().__enter__()
    assert [(event.kind, event.name) for event in trace] == [("call", "launch saxpy"), ("dispatch", "saxpy")]
    assert trace.events[1].details["grid"] == "3 x 1 x 1" and trace.events[1].where != trace.events[0].where
    assert (x == 3).all()
    saxpy(x, x, 2.0, 300, grid=3)
    assert len(trace) == 2 and (x == 9).all()


def test_a_trace(program, tmp_path):
    a = numpy.ones(5, numpy.float32)
    with tenon.trace(program.device) as trace:
        program.add(a, a)
    kinds = {event.kind for event in trace}
    assert {"call", "dispatch"} <= kinds and len(trace) == len(trace.events)
    assert "call add" in repr(trace) and "call add" in text_of(trace)
    trace.save(tmp_path / "trace.json")
    assert isinstance(json.loads((tmp_path / "trace.json").read_text()), list)
    with tenon.trace(program.device) as again:
        pass
    assert len(again) == 0 and "an empty trace" == repr(again)
    with pytest.raises(tenon.Error, match="records nothing"):  # it ended
        program.device.trace_write(str(tmp_path / "none.json"))
