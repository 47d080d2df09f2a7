/* SPDX-License-Identifier: BSD-2-Clause */
#include "torch/work.hpp"

#include <stdexcept>

namespace softmrc
{

static c10::intrusive_ptr<c10::ivalue::Future> make_future()
{
	return c10::make_intrusive<c10::ivalue::Future>(
		c10::ListType::create(c10::TensorType::get()));
}

Work::Work(int rank, c10d::OpType type, std::vector<at::Tensor> outputs)
    : c10d::Work(rank, type), outputs_(std::move(outputs)), future_(make_future())
{
}

std::vector<at::Tensor> Work::result()
{
	TORCH_CHECK(isCompleted(), "mrc: the result of a call that is not done; wait() for it");
	return outputs_;
}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture()
{
	return future_;
}

int Work::sourceRank() const
{
	return source_;
}

void Work::set_source(int rank)
{
	source_ = rank;
}

/* The future first: who has waited for this may ask the future for its value at once. */
void Work::complete(const std::string &error)
{
	if (error.empty()) {
		future_->markCompleted(at::IValue(outputs_));
		finish();
		return;
	}
	auto why = std::make_exception_ptr(std::runtime_error("mrc: " + error));

	future_->setError(why);
	finish(why);
}

} // namespace softmrc
