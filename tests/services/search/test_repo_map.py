"""Which symbols of a file are on the map."""


def test_of_many_symbols_those_that_the_question_names_are_shown(project):
    many = "".join(f"def helper_{'abcdefghijklmnopqrst'[n]}():\n    pass\n\n\n" for n in range(20))
    project.write("boat.py", f"{many}def measure_depth():\n    pass\n")
    drawn = project.indexed().repo_map("where is the depth measured")
    assert "function measure_depth" in drawn
    assert drawn.count("function") == 12


def test_a_constant_is_on_the_map_only_if_other_files_use_it(project):
    project.write("tide.py", "HIGH_MARK = 3\nLOW_MARK = 1\n\n\ndef tide():\n    return LOW_MARK\n")
    project.write("use.py", "from tide import HIGH_MARK\n")
    drawn = project.indexed().repo_map("tide")
    assert "HIGH_MARK" in drawn
    assert "LOW_MARK" not in drawn


def test_methods_that_every_class_has_say_nothing(project):
    project.write("tide.py", "class Tide:\n    def __init__(self):\n        pass\n")
    assert project.indexed().repo_map("tide") == "tide.py\n  1: class Tide"


def test_a_folder_is_the_same_with_a_slash_after_it(project):
    project.write("sea/tide.py", "def tide(): ...\n")
    project.write("land/hill.py", "def hill(): ...\n")
    index = project.indexed()
    assert index.repo_map("tide", under="sea/").splitlines()[0] == "sea/tide.py"
    assert index.repo_map("tide", under="sea/") == index.repo_map("tide", under="sea")
