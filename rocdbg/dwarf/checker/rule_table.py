"""The rules that are checked: an identifier, the section of the specification, and the requirement."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["RULES", "Rule"]


class Rule(Struct, frozen=True):
    """A rule. ``section`` is a section of the extensions (A.x); without the A, it is the section of DWARF 5."""

    id: str
    section: str
    text: str


_ROWS = [
    ("readable", "A.7", "Units, abbreviations, entries, strings and references can be read."),
    ("augmentation-format", "A.3.1.1", "An augmentation string consists of any number of items [vendor:vX.Y:options]."),
    ("attribute-class", "A.7.5.4", "A vendor attribute has a tag and a form class for which it is defined."),
    ("attribute-tag", "A.3.3.5", "DW_AT_return_addr, frame_base and static_link are on subprograms and entry points."),
    ("reference", "A.7.5.5", "A reference refers to an entry, and DW_AT_type refers to a type."),
    ("expression", "A.2.5.4", "An expression is a sequence of complete operations of its unit's dialect."),
    ("operand", "A.2.5.4", "Operands refer to existing entries, operations and addresses, and to base types that fit."),
    ("object", "A.2.5.1", "DW_OP_push_object_address is used only where there is an object: in attributes of types."),
    ("address-size", "A.2.5.1", "Headers of all sections have the address size of the units."),
    ("location-list", "A.2.5.5", "A location list is a sequence of known entries, and no range ends before it begins."),
    ("range-list", "A.2.17", "Address ranges can be read, and none ends before it begins."),
    ("source-file", "A.2.14", "DW_AT_decl_file and DW_AT_call_file are files of the unit's line table."),
    ("return-addr", "A.3.3.5 (1)", "DW_AT_return_addr is one location in memory."),
    ("frame-base", "A.3.3.5 (2)", "DW_AT_frame_base is one location in memory or a register, without DW_OP_fbreg."),
    ("static-link", "A.3.3.5 (3)", "DW_AT_static_link is one location in memory; only nested functions have it."),
    ("lanes", "A.3.3.5 (4)", "DW_AT_LLVM_lanes is a positive integer constant."),
    ("lane-pc", "A.3.3.5 (5)", "DW_AT_LLVM_lane_pc is the location of a vector with one PC per lane."),
    ("active-lane", "A.3.3.5 (6)", "DW_AT_LLVM_active_lane is the location of a mask with one bit per lane."),
    ("iterations", "A.3.3.5 (7)", "DW_AT_LLVM_iterations is positive: a constant, or one implicit location."),
    ("call-site", "A.3.4.2", "DW_AT_call_value, call_data_value give values; location, call_data_location locations."),
    ("call-parameter", "A.3.4.2", "A call site parameter is in a call site, has a location and refers to a parameter."),
    ("call-target", "A.3.4", "DW_AT_call_target gives the address called, or the location of that address."),
    ("location", "A.4.1, A.4.2", "DW_AT_location is an expression that gives a location."),
    ("memory-space", "A.2.14", "A memory space is a standard one, or in the range that is reserved for vendors."),
    ("base-type", "A.5.1", "A base type has a known encoding and a size."),
    ("vector-size", "A.5.1", "DW_AT_LLVM_vector_size is a positive integer constant."),
    ("address-space", "A.2.13", "An address space exists on the target; a base type with one encodes an address."),
    ("member-location", "A.5.7.3", "DW_AT_data_member_location is a constant or an expression that gives a location."),
    ("vtable-elem", "A.5.7.8", "DW_AT_vtable_elem_location is an expression that gives a location."),
    ("use-location", "A.5.14", "DW_AT_use_location is an expression that gives a location."),
    ("data-location", "A.5.18.1", "DW_AT_data_location is an operation expression that gives a location."),
    ("name-index", "A.6.1.1", "A name index can be read; each entry refers to an existing entry with the stated tag."),
    ("name-index-variable", "A.6.1.1.1", "A name index lists variables whose location is in an address space."),
    ("line-table", "A.6.2.4", "A line number program can be read from its header to its end."),
    ("line-content", "A.6.2.4.1", "File entries use permitted forms and refer to existing directories."),
    ("frame-size", "A.6.4.1", "The size of an entry of .debug_frame is a multiple of the address size."),
    ("call-frame", "A.6.4", "Call frame information can be read, and each rule gives the kind of result it requires."),
]
RULES: dict[str, Rule] = {identifier: Rule(identifier, section, text) for identifier, section, text in _ROWS}
"""All rules by identifier."""
