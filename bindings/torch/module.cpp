/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.cpp - the Python module softmrc_torch, whose import makes the backend "mrc" known.
 *
 * A group is made and ended without the interpreter's lock: both wait for other ranks, and what the
 * worker completes may run callbacks that take it.
 */
#include "torch/process_group.hpp"

#include <torch/csrc/utils/pybind.h>

#include <pybind11/chrono.h>

namespace softmrc
{

static c10::intrusive_ptr<c10d::ProcessGroup> create(const c10::intrusive_ptr<c10d::Store> &store,
						     int rank, int size, Milliseconds timeout)
{
	return c10::make_intrusive<ProcessGroup>(store, rank, size, timeout);
}

} // namespace softmrc

PYBIND11_MODULE(softmrc_torch, module)
{
	const auto backend = py::module::import("torch.distributed").attr("Backend");

	module.doc() =
		"torch.distributed.init_process_group(\"mrc\"): PyTorch's collectives over MRC";
	module.def("create", softmrc::create, py::arg("store"), py::arg("rank"), py::arg("size"),
		   py::arg("timeout"), py::call_guard<py::gil_scoped_release>());
	backend.attr("register_backend")("mrc", module.attr("create"));
}
