/* SPDX-License-Identifier: BSD-2-Clause */
#include "torch/process_group.hpp"

#include <cstring>

#include <pybind11/pybind11.h>

namespace softmrc
{

ProcessGroup::ProcessGroup(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
			   Milliseconds timeout)
    : c10d::ProcessGroup(rank, size), timeout_(timeout),
      worker_(std::make_unique<Worker>(*store, rank, size, timeout))
{
}

/* Python lets go of it with the interpreter's lock held, which callbacks of what the worker still
 * completes may want. */
ProcessGroup::~ProcessGroup()
{
	if (!PyGILState_Check()) {
		worker_.reset();
		return;
	}
	pybind11::gil_scoped_release unlocked;
	worker_.reset();
}

const std::string ProcessGroup::getBackendName() const
{
	return "mrc";
}

uint32_t ProcessGroup::rank_in_group(int64_t rank, const char *what) const
{
	TORCH_CHECK(rank >= 0 && rank < size_, "mrc: ", what, " ", rank, ": want 0 to ", size_ - 1);
	return static_cast<uint32_t>(rank);
}

WorkPtr ProcessGroup::submit(mg_kind kind, c10d::OpType type, uint32_t what, Milliseconds timeout,
			     Tensors outputs, Run run, std::function<void()> after, uint32_t root)
{
	check_apart(outputs, mg_kind_name(kind));
	auto work = c10::make_intrusive<Work>(rank_, type, std::move(outputs));

	worker_->submit(Call{kind, what, root, timeout.count() <= 0 ? timeout_ : timeout,
			     std::move(run), std::move(after), work});
	return work;
}

/* ---- combining ---- */

WorkPtr ProcessGroup::all_reduce(const at::Tensor &tensor, const c10d::AllreduceOptions &opts,
				 Tensors result)
{
	const auto reduction = std::make_shared<Reduction>(tensor, opts.reduceOp, "all_reduce");
	const auto flat = std::make_shared<Flat>(tensor);

	return submit(
		MG_ALL_REDUCE, c10d::OpType::ALLREDUCE, reduction->what(), opts.timeout,
		std::move(result),
		[=](mg_group *g, const mg_call *call) {
			const auto reduce = reduction->combine();

			return mg_all_reduce(g, call, flat->data(), flat->bytes(), &reduce);
		},
		[=, ranks = size_] {
			reduction->finish(flat->data(), flat->bytes(), ranks);
			flat->put_back();
		});
}

WorkPtr ProcessGroup::allreduce(Tensors &tensors, const c10d::AllreduceOptions &opts)
{
	return all_reduce(the_one(tensors, "all_reduce"), opts, tensors);
}

/* One after the other: what is combined together has other chunks than alone. The last is done
 * when all are, so its result is all of theirs. */
WorkPtr ProcessGroup::allreduce_coalesced(Tensors &tensors,
					  const c10d::AllreduceCoalescedOptions &opts)
{
	WorkPtr last;

	TORCH_CHECK(!tensors.empty(), "mrc: all_reduce_coalesced of no tensors");
	for (const auto &tensor : tensors) {
		check(tensor, "all_reduce_coalesced");
		Reduction(tensor, opts.reduceOp, "all_reduce_coalesced");
	}
	for (const auto &tensor : tensors)
		last = all_reduce(tensor, opts, tensors);
	return last;
}

WorkPtr ProcessGroup::reduce(Tensors &tensors, const c10d::ReduceOptions &opts)
{
	const auto tensor = the_one(tensors, "reduce");
	const auto root = rank_in_group(opts.rootRank, "reduce's root");
	const auto reduction = std::make_shared<Reduction>(tensor, opts.reduceOp, "reduce");
	const bool is_root = opts.rootRank == rank_;
	/* Elsewhere it is scratch, and what the caller has stays. */
	const auto flat = std::make_shared<Flat>(is_root ? tensor : tensor.detach().clone());

	return submit(
		MG_REDUCE, c10d::OpType::REDUCE, reduction->what(), opts.timeout, tensors,
		[=](mg_group *g, const mg_call *call) {
			const auto reduce = reduction->combine();

			return mg_reduce(g, call, flat->data(), flat->bytes(), &reduce);
		},
		[=, ranks = size_] {
			if (!is_root)
				return;
			reduction->finish(flat->data(), flat->bytes(), ranks);
			flat->put_back();
		},
		root);
}

/* `whole` has a part for each rank, and is scratch. */
WorkPtr ProcessGroup::scatter_sum(const at::Tensor &output, at::Tensor whole, c10d::OpType type,
				  const c10d::ReduceScatterOptions &opts)
{
	const auto reduction = std::make_shared<Reduction>(output, opts.reduceOp, "reduce_scatter");
	const size_t bytes = output.nbytes();

	return submit(
		MG_REDUCE_SCATTER, type, reduction->what(), opts.timeout, {output},
		[=](mg_group *g, const mg_call *call) {
			const auto reduce = reduction->combine();

			return mg_reduce_scatter(g, call, whole.data_ptr(), bytes, &reduce);
		},
		[=, rank = rank_, ranks = size_] {
			const auto part = whole.narrow(0, rank * output.numel(), output.numel());

			reduction->finish(part.data_ptr(), bytes, ranks);
			copy_elements(output, part);
		});
}

WorkPtr ProcessGroup::reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
				     const c10d::ReduceScatterOptions &opts)
{
	const auto output = the_one(outputs, "reduce_scatter");
	Tensors flat;

	TORCH_CHECK(inputs.size() == 1 && inputs[0].size() == static_cast<size_t>(size_),
		    "mrc: reduce_scatter takes a tensor for each of ", size_, " ranks");
	check_alike(inputs[0], output, output.numel(), "reduce_scatter");
	for (const auto &tensor : inputs[0])
		flat.push_back(tensor.detach().reshape({-1}));
	return scatter_sum(output, at::cat(flat), c10d::OpType::REDUCE_SCATTER, opts);
}

WorkPtr ProcessGroup::_reduce_scatter_base(at::Tensor &output, at::Tensor &input,
					   const c10d::ReduceScatterOptions &opts)
{
	check(output, "reduce_scatter");
	check_alike({input}, output, output.numel() * size_, "reduce_scatter");
	return scatter_sum(output, input.detach().reshape({-1}).clone(),
			   c10d::OpType::_REDUCE_SCATTER_BASE, opts);
}

/* ---- copying ---- */

WorkPtr ProcessGroup::broadcast(Tensors &tensors, const c10d::BroadcastOptions &opts)
{
	const auto tensor = the_one(tensors, "broadcast");
	const auto root = rank_in_group(opts.rootRank, "broadcast's root");
	const auto flat = std::make_shared<Flat>(tensor);

	return submit(
		MG_BROADCAST, c10d::OpType::BROADCAST, what_of(tensor), opts.timeout, tensors,
		[=](mg_group *g, const mg_call *call) {
			return mg_broadcast(g, call, flat->data(), flat->bytes());
		},
		[=] { flat->put_back(); }, root);
}

WorkPtr ProcessGroup::all_gather(const at::Tensor &input, const Tensors &outputs,
				 const c10d::AllgatherOptions &opts, Tensors result)
{
	const int64_t count = input.numel();
	const auto whole = at::empty({count * size_}, input.options().requires_grad(false));

	copy_elements(whole.narrow(0, rank_ * count, count), input.reshape({-1}));
	return submit(
		MG_ALL_GATHER, c10d::OpType::ALLGATHER, what_of(input), opts.timeout,
		std::move(result),
		[=, bytes = input.nbytes()](mg_group *g, const mg_call *call) {
			return mg_all_gather(g, call, whole.data_ptr(), bytes);
		},
		[=] {
			for (size_t r = 0; r < outputs.size(); r++)
				copy_elements(
					outputs[r],
					whole.narrow(0, static_cast<int64_t>(r) * count, count));
		});
}

WorkPtr ProcessGroup::allgather(std::vector<Tensors> &outputs, Tensors &inputs,
				const c10d::AllgatherOptions &opts)
{
	const auto input = the_one(inputs, "all_gather");

	TORCH_CHECK(outputs.size() == 1 && outputs[0].size() == static_cast<size_t>(size_),
		    "mrc: all_gather takes an output for each of ", size_, " ranks");
	check_alike(outputs[0], input, input.numel(), "all_gather");
	return all_gather(input, outputs[0], opts, outputs[0]);
}

WorkPtr ProcessGroup::_allgather_base(at::Tensor &output, at::Tensor &input,
				      const c10d::AllgatherOptions &opts)
{
	check(input, "all_gather");
	check_alike({output}, input, input.numel() * size_, "all_gather");
	const auto flat = std::make_shared<Flat>(output);
	const size_t bytes = input.nbytes();
	auto *own = static_cast<uint8_t *>(flat->data()) + static_cast<size_t>(rank_) * bytes;

	if (bytes != 0)
		memmove(own, Flat(input).data(), bytes);
	return submit(
		MG_ALL_GATHER, c10d::OpType::_ALLGATHER_BASE, what_of(input), opts.timeout,
		{output},
		[=](mg_group *g, const mg_call *call) {
			return mg_all_gather(g, call, flat->data(), bytes);
		},
		[=] { flat->put_back(); });
}

/* outputs[rank][i] is inputs[i] of that rank. The result of the last is all of theirs. */
WorkPtr ProcessGroup::allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
					  const c10d::AllgatherOptions &opts)
{
	std::vector<Tensors> by_input(inputs.size());
	Tensors result;
	WorkPtr last;

	TORCH_CHECK(!inputs.empty() && outputs.size() == static_cast<size_t>(size_),
		    "mrc: all_gather_coalesced takes a list of outputs for each of ", size_,
		    " ranks");
	for (const auto &of_rank : outputs) {
		TORCH_CHECK(of_rank.size() == inputs.size(),
			    "mrc: all_gather_coalesced: ", of_rank.size(), " outputs for ",
			    inputs.size(), " inputs");
		for (size_t i = 0; i < inputs.size(); i++)
			by_input[i].push_back(of_rank[i]);
		result.insert(result.end(), of_rank.begin(), of_rank.end());
	}
	for (size_t i = 0; i < inputs.size(); i++) {
		check(inputs[i], "all_gather_coalesced");
		check_alike(by_input[i], inputs[i], inputs[i].numel(), "all_gather_coalesced");
	}
	for (size_t i = 0; i < inputs.size(); i++)
		last = all_gather(inputs[i], by_input[i], opts, result);
	return last;
}

/* ---- each rank's own parts ---- */

/* in[r] comes from rank r, out[r] goes to it; an undefined tensor is nothing. */
WorkPtr ProcessGroup::all_to_all(mg_kind kind, c10d::OpType type, Milliseconds timeout,
				 Tensors outputs, Tensors in, Tensors out, uint32_t root)
{
	struct Parts {
		std::vector<std::shared_ptr<Flat>> flat;
		std::vector<void *> in;
		std::vector<const void *> out;
		std::vector<size_t> in_bytes, out_bytes;
	};
	const auto parts = std::make_shared<Parts>();
	uint32_t what = 0;

	for (const auto &tensor : in) {
		const auto flat = tensor.defined() ? std::make_shared<Flat>(tensor) : nullptr;

		what = flat ? what_of(tensor) : what;
		parts->in.push_back(flat ? flat->data() : nullptr);
		parts->in_bytes.push_back(flat ? flat->bytes() : 0);
		if (flat)
			parts->flat.push_back(flat);
	}
	const size_t to_put_back = parts->flat.size();
	for (const auto &tensor : out) {
		const auto flat = tensor.defined() ? std::make_shared<Flat>(tensor) : nullptr;

		what = flat ? what_of(tensor) : what;
		parts->out.push_back(flat ? flat->data() : nullptr);
		parts->out_bytes.push_back(flat ? flat->bytes() : 0);
		if (flat)
			parts->flat.push_back(flat);
	}
	TORCH_CHECK(parts->in_bytes[static_cast<size_t>(rank_)] ==
			    parts->out_bytes[static_cast<size_t>(rank_)],
		    "mrc: ", mg_kind_name(kind), ": rank ", rank_, " sends itself ",
		    parts->out_bytes[static_cast<size_t>(rank_)], " bytes and receives ",
		    parts->in_bytes[static_cast<size_t>(rank_)]);
	return submit(
		kind, type, what, timeout, std::move(outputs),
		[=](mg_group *g, const mg_call *call) {
			const mg_parts p = {parts->out.data(), parts->out_bytes.data(),
					    parts->in.data(), parts->in_bytes.data()};

			return mg_all_to_all(g, call, &p);
		},
		[=] {
			for (size_t i = 0; i < to_put_back; i++)
				parts->flat[i]->put_back();
		},
		root);
}

WorkPtr ProcessGroup::gather(std::vector<Tensors> &outputs, Tensors &inputs,
			     const c10d::GatherOptions &opts)
{
	const auto input = the_one(inputs, "gather");
	const auto root = rank_in_group(opts.rootRank, "gather's root");
	const auto ranks = static_cast<size_t>(size_);
	Tensors in(ranks), out(ranks), result;

	out[root] = input;
	if (opts.rootRank == rank_) {
		TORCH_CHECK(outputs.size() == 1 && outputs[0].size() == ranks,
			    "mrc: gather's root takes an output for each of ", size_, " ranks");
		check_alike(outputs[0], input, input.numel(), "gather");
		in = result = outputs[0];
	} else {
		TORCH_CHECK(outputs.empty(), "mrc: gather: outputs at a rank that is not the root");
	}
	return all_to_all(MG_GATHER, c10d::OpType::GATHER, opts.timeout, result, in, out, root);
}

WorkPtr ProcessGroup::scatter(Tensors &outputs, std::vector<Tensors> &inputs,
			      const c10d::ScatterOptions &opts)
{
	const auto output = the_one(outputs, "scatter");
	const auto root = rank_in_group(opts.rootRank, "scatter's root");
	const auto ranks = static_cast<size_t>(size_);
	Tensors in(ranks), out(ranks);

	in[root] = output;
	if (opts.rootRank == rank_) {
		TORCH_CHECK(inputs.size() == 1 && inputs[0].size() == ranks,
			    "mrc: scatter's root takes an input for each of ", size_, " ranks");
		check_alike(inputs[0], output, output.numel(), "scatter");
		out = inputs[0];
	} else {
		TORCH_CHECK(inputs.empty(), "mrc: scatter: inputs at a rank that is not the root");
	}
	return all_to_all(MG_SCATTER, c10d::OpType::SCATTER, opts.timeout, outputs, in, out, root);
}

WorkPtr ProcessGroup::alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &opts)
{
	const auto ranks = static_cast<size_t>(size_);

	TORCH_CHECK(outputs.size() == ranks && inputs.size() == ranks,
		    "mrc: all_to_all takes a tensor to and from each of ", size_, " ranks");
	for (size_t r = 0; r < ranks; r++) {
		check_alike({outputs[r]}, inputs[0], outputs[r].numel(), "all_to_all");
		check_alike({inputs[r]}, inputs[0], inputs[r].numel(), "all_to_all");
	}
	for (const auto &output : outputs)
		for (const auto &input : inputs)
			check_unread(output, input, "all_to_all");
	return all_to_all(MG_ALL_TO_ALL, c10d::OpType::ALLTOALL, opts.timeout, outputs, outputs,
			  inputs);
}

/* Rows of a tensor, one piece a rank: as long as `splits` says, or all alike. */
static Tensors split(const at::Tensor &tensor, std::vector<int64_t> splits, int ranks,
		     const char *which)
{
	int64_t rows = tensor.dim() ? tensor.size(0) : 0, sum = 0;
	Tensors pieces;

	if (splits.empty()) {
		TORCH_CHECK(rows % ranks == 0, "mrc: all_to_all: ", rows, " rows of the ", which,
			    " for ", ranks, " ranks, without split sizes");
		splits.assign(static_cast<size_t>(ranks), rows / ranks);
	}
	for (const auto n : splits) {
		TORCH_CHECK(n >= 0 && n <= rows - sum, "mrc: all_to_all: split sizes of the ",
			    which, " are not its ", rows, " rows");
		pieces.push_back(tensor.detach().narrow(0, sum, n));
		sum += n;
	}
	TORCH_CHECK(sum == rows && pieces.size() == static_cast<size_t>(ranks),
		    "mrc: all_to_all: split sizes of the ", which, " are not its ", rows,
		    " rows for ", ranks, " ranks");
	return pieces;
}

WorkPtr ProcessGroup::alltoall_base(at::Tensor &output, at::Tensor &input,
				    std::vector<int64_t> &output_splits,
				    std::vector<int64_t> &input_splits,
				    const c10d::AllToAllOptions &opts)
{
	check_alike({output}, input, output.numel(), "all_to_all");
	check(input, "all_to_all");
	check_unread(output, input, "all_to_all");
	return all_to_all(MG_ALL_TO_ALL, c10d::OpType::ALLTOALL_BASE, opts.timeout, {output},
			  split(output, output_splits, size_, "output"),
			  split(input, input_splits, size_, "input"));
}

/* ---- messages ---- */

WorkPtr ProcessGroup::message(mg_request_kind kind, c10d::OpType type, uint32_t peer,
			      const at::Tensor &tensor, int tag)
{
	TORCH_CHECK(tag >= 0, "mrc: tag ", tag, ": want 0 or more");
	TORCH_CHECK(tensor.is_contiguous(), "mrc: send and recv take contiguous tensors");
	auto work = c10::make_intrusive<Work>(rank_, type, Tensors{tensor});

	worker_->submit(kind, peer, static_cast<uint32_t>(tag), tensor, timeout_, work);
	return work;
}

WorkPtr ProcessGroup::send(Tensors &tensors, int peer, int tag)
{
	return message(MG_SEND, c10d::OpType::SEND, rank_in_group(peer, "send to rank"),
		       the_one(tensors, "send"), tag);
}

WorkPtr ProcessGroup::recv(Tensors &tensors, int peer, int tag)
{
	return message(MG_RECEIVE, c10d::OpType::RECV, rank_in_group(peer, "receive from rank"),
		       the_one(tensors, "recv"), tag);
}

WorkPtr ProcessGroup::recvAnysource(Tensors &tensors, int tag)
{
	return message(MG_RECEIVE, c10d::OpType::RECVANYSOURCE, MG_ANY, the_one(tensors, "recv"),
		       tag);
}

WorkPtr ProcessGroup::barrier(const c10d::BarrierOptions &opts)
{
	return submit(MG_BARRIER, c10d::OpType::BARRIER, 0, opts.timeout, {}, mg_barrier, nullptr);
}

} // namespace softmrc
