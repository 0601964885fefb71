"""Array files: read and written block by block, never left half-written.

=============  =====================================================================================
files to read  ``open_reader`` opens one (`Reader`), ``read_blocks``, ``read_whole``, ``first_row``
               and ``sample_rows`` read it; ``LabelledRows`` reads it as often as training needs,
               ``finite_block`` checks one block; ``encode_file`` maps it into another;
               ``ColumnHistograms`` and ``TrainingHistograms`` compare new rows with those
               of training
labels         ``read_labels``, ``read_columns``, ``typed_labels``, ``whole_labels``,
               ``check_label_kind``, ``few_labels``; of any text ``read_text``
to write       ``output_format``, ``open_writer``; for predictions ``prediction_format``,
               ``open_predictions``; for anything ``atomic_file``, ``atomic_folder``,
               ``check_target``, ``naming_full_disks``, ``remove_unfinished``,
               ``refuse_terminal``
=============  =====================================================================================
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
