"""What is kept of a network's opinion of a position, besides priors and ownership; in the view of the player to move."""

COLUMNS = (
    "win",
    "loss",
    "no_result",
    "score_mean",
    "score_square",
    "lead",
    "variance_time",
    "value_error",
    "score_error",
)
WIN, LOSS, NO_RESULT, SCORE_MEAN, SCORE_SQUARE, LEAD, VARIANCE_TIME, VALUE_ERROR, SCORE_ERROR = range(len(COLUMNS))
