"""The values of XML Schema and the functions on them, for rules and SPARQL.

Shared:

    literals     the value of a literal (numerals, booleans, moments, strings), and string functions
    datatypes    whether a literal is well formed, the types of its value, its canonical literal
    regex        regular expressions, by RE2

Different, because rules follow Nemo and SPARQL follows XPath:

                       rules (`rule_*`)                          SPARQL (`sparql_*`)
    integers           64 bits; an overflow has no value         unbounded
    decimals           computed as doubles                       exact, quotients to 18 digits
    integer division   truncated to an integer                   a decimal
    NaN, infinity      no result is one                          results as in IEEE 754
    white space        makes a numeral ill-formed                is ignored around a numeral
    `=` of literals    always true or false                      an error if a type is not known
    moments            ordered if both or none have a zone       ordered if more than 14 hours apart, too
    STR                the canonical text                        the text as written
    LANG               strings only                              any literal
    DATATYPE           an IRI has xsd:anyURI                     literals only
    SUBSTR             positions are integers                    positions are rounded
    STRLANG            the tag in lower case                     the tag as written
    REGEX              patterns of Rust's regex crate            patterns of XPath, with flags
"""
