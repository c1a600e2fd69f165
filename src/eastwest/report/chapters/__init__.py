"""The chapters of a plan's report, one function each: from the plan's JSON document and the words of a language to a
`Section`.
"""
