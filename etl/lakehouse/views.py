"""Every view of the lakehouse, by name."""

from etl.analysis.augesc_evaluation_views import augesc_evaluation_views
from etl.analysis.augesc_views import augesc_views
from etl.analysis.crowd_views import crowd_views
from etl.analysis.edos_classifier_views import classifier_views
from etl.analysis.edos_views import edos_views
from etl.analysis.emo_pillars_analysis_views import emo_pillars_analysis_views
from etl.analysis.emo_pillars_model_views import model_views
from etl.analysis.emo_pillars_views import emo_pillars_views
from etl.analysis.expansion_views import expansion_views
from etl.analysis.llm_views import llm_views
from etl.analysis.quality_views import quality_views
from etl.analysis.replies_views import replies_views


def all_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    edos = edos_views() | crowd_views() | expansion_views() | classifier_views() | quality_views()
    emo_pillars = emo_pillars_views() | model_views() | emo_pillars_analysis_views()
    return edos | replies_views() | llm_views() | emo_pillars | augesc_views() | augesc_evaluation_views()
