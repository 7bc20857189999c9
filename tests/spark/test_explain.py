"""The table of rule instances as a Spark DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tidelog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_instances_as_a_data_frame(spark: SparkSession) -> None:
    kb = tidelog.open()
    kb.apply(
        add={"hot": [(i,) for i in range(500)]},
        add_rules='alert(?x) :- hot(?x), ?x > 9 . #[name("all")] seen(?x) :- hot(?x) .',
    )
    frame = kb.explain_all("alert(?x)", deep=True, spark=spark)
    assert frame.count() == 490 * 2
    rows = {tuple(row) for row in frame.filter("fact = 'alert(10)'").selectExpr("kind", "rule", "body[0]").collect()}
    assert rows == {("rule", 1, "hot(10)")}
    assert frame.filter("kind = 'explicit' and size(body) = 0").count() == 490
