/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work.hpp - what a call hands back: waited for, asked for its result, or taken as a future, which
 * is how DistributedDataParallel learns that a bucket is done.
 */
#ifndef BINDINGS_TORCH_WORK_HPP
#define BINDINGS_TORCH_WORK_HPP

#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Work.hpp>

namespace softmrc
{

class Work final : public c10d::Work
{
      public:
	/* `outputs` are kept until the call is done, and are its result. */
	Work(int rank, c10d::OpType type, std::vector<at::Tensor> outputs);

	std::vector<at::Tensor> result() override;
	c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
	int sourceRank() const override;

	/* complete ends it, once; an empty text means well. */
	void complete(const std::string &error);
	void set_source(int rank);

      private:
	std::vector<at::Tensor> outputs_;
	c10::intrusive_ptr<c10::ivalue::Future> future_;
	int source_ = -1;
};

} // namespace softmrc

#endif
