/* Everything Sluice offers, in one include.
 * The folders are the parts: core holds the vocabulary (status, layout, device, budget, source, sink,
 * job), ooc the out-of-core engine, io the files, kernels what is computed, app the whole jobs.
 * CUDA's own types appear only in core/device_cuda.h, which who needs it includes separately.
 *
 *     slc_image_options options;
 *     slc_image_options_init(&options);
 *     options.inputs = &input; options.n_inputs = 1; options.outputs = &output; options.n_outputs = 1;
 *     options.run.vram_bytes = 256 << 20; options.run.ram_bytes = 1 << 30;
 *     if (slc_image_run(&options, &result) != SLC_OK) { puts(slc_status_message()); }
 */
#ifndef SLUICE_H
#define SLUICE_H

#include "core/api.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/box.h"
#include "core/budget.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/comm.h"
#include "core/convert.h"
#include "core/copy.h"
#include "core/device.h"
#include "core/device_check.h"
#include "core/dtype.h"
#include "core/fixed.h"
#include "core/flatten.h"
#include "core/job.h"
#include "core/layout.h"
#include "core/log.h"
#include "core/numerics.h"
#include "core/pool.h"
#include "core/queue.h"
#include "core/slice.h"
#include "core/source.h"
#include "core/source_slice.h"
#include "core/status.h"
#include "core/version.h"

#include "ooc/checkpoint.h"
#include "ooc/engine.h"
#include "ooc/execute.h"
#include "ooc/fingerprint.h"
#include "ooc/plan.h"
#include "ooc/probe.h"
#include "ooc/trace.h"
#include "ooc/trace_feed.h"

#include "io/h5_array.h"
#include "io/h5_files.h"
#include "io/h5_filter.h"
#include "io/image_file.h"
#include "io/model.h"
#include "io/model_list.h"
#include "io/outfile.h"
#include "io/simulate.h"
#include "io/spill.h"
#include "io/uvh5_copy.h"
#include "io/uvh5_write.h"
#include "io/vis.h"

#include "kernels/direct.h"
#include "kernels/gather_kernel.h"
#include "kernels/gather_map.h"
#include "kernels/permute_job.h"
#include "kernels/predict_kernel.h"
#include "kernels/stats_kernel.h"
#include "kernels/touch.h"

#include "app/array_form.h"
#include "app/array_name.h"
#include "app/gather.h"
#include "app/image.h"
#include "app/info.h"
#include "app/own_job.h"
#include "app/predict.h"
#include "app/rewrite.h"
#include "app/run_options.h"
#include "app/stats.h"

#endif
