/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_group.hpp - PyTorch's process group "mrc" (torch.distributed, c10d) over libmrc.
 *
 * Every call is checked here, in the caller's thread, and made by the group's worker. Tensors are
 * dense and in the host's memory, of any type and stride; what a rank gets wrong is an exception
 * that names it, what the ranks disagree on fails the call and the group on all of them (group.h).
 */
#ifndef BINDINGS_TORCH_PROCESS_GROUP_HPP
#define BINDINGS_TORCH_PROCESS_GROUP_HPP

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "torch/tensors.hpp"
#include "torch/worker.hpp"

namespace softmrc
{

using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

class ProcessGroup final : public c10d::ProcessGroup
{
      public:
	ProcessGroup(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
		     Milliseconds timeout);
	~ProcessGroup() override;

	const std::string getBackendName() const override;

	WorkPtr broadcast(Tensors &tensors, const c10d::BroadcastOptions &opts) override;
	WorkPtr allreduce(Tensors &tensors, const c10d::AllreduceOptions &opts) override;
	WorkPtr allreduce_coalesced(Tensors &tensors,
				    const c10d::AllreduceCoalescedOptions &opts) override;
	WorkPtr reduce(Tensors &tensors, const c10d::ReduceOptions &opts) override;
	WorkPtr allgather(std::vector<Tensors> &outputs, Tensors &inputs,
			  const c10d::AllgatherOptions &opts) override;
	WorkPtr _allgather_base(at::Tensor &output, at::Tensor &input,
				const c10d::AllgatherOptions &opts) override;
	WorkPtr allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
				    const c10d::AllgatherOptions &opts) override;
	WorkPtr gather(std::vector<Tensors> &outputs, Tensors &inputs,
		       const c10d::GatherOptions &opts) override;
	WorkPtr scatter(Tensors &outputs, std::vector<Tensors> &inputs,
			const c10d::ScatterOptions &opts) override;
	WorkPtr reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
			       const c10d::ReduceScatterOptions &opts) override;
	WorkPtr _reduce_scatter_base(at::Tensor &output, at::Tensor &input,
				     const c10d::ReduceScatterOptions &opts) override;
	WorkPtr alltoall_base(at::Tensor &output, at::Tensor &input,
			      std::vector<int64_t> &output_splits,
			      std::vector<int64_t> &input_splits,
			      const c10d::AllToAllOptions &opts) override;
	WorkPtr alltoall(Tensors &outputs, Tensors &inputs,
			 const c10d::AllToAllOptions &opts) override;
	WorkPtr send(Tensors &tensors, int peer, int tag) override;
	WorkPtr recv(Tensors &tensors, int peer, int tag) override;
	WorkPtr recvAnysource(Tensors &tensors, int tag) override;
	WorkPtr barrier(const c10d::BarrierOptions &opts) override;

      private:
	using Run = std::function<int(mg_group *, const mg_call *)>;

	WorkPtr submit(mg_kind kind, c10d::OpType type, uint32_t what, Milliseconds timeout,
		       Tensors outputs, Run run, std::function<void()> after, uint32_t root = 0);
	/* `result` is what the call hands back. */
	WorkPtr all_reduce(const at::Tensor &tensor, const c10d::AllreduceOptions &opts,
			   Tensors result);
	WorkPtr all_gather(const at::Tensor &input, const Tensors &outputs,
			   const c10d::AllgatherOptions &opts, Tensors result);
	WorkPtr all_to_all(mg_kind kind, c10d::OpType type, Milliseconds timeout, Tensors outputs,
			   Tensors in, Tensors out, uint32_t root = 0);
	WorkPtr scatter_sum(const at::Tensor &output, at::Tensor whole, c10d::OpType type,
			    const c10d::ReduceScatterOptions &opts);
	WorkPtr message(mg_request_kind kind, c10d::OpType type, uint32_t peer,
			const at::Tensor &tensor, int tag);
	uint32_t rank_in_group(int64_t rank, const char *what) const;

	const Milliseconds timeout_;
	std::unique_ptr<Worker> worker_;
};

} // namespace softmrc

#endif
