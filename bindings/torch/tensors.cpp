/* SPDX-License-Identifier: BSD-2-Clause */
#include "torch/tensors.hpp"

#include <ATen/MemoryOverlap.h>

namespace softmrc
{

void check(const at::Tensor &tensor, const char *call)
{
	TORCH_CHECK(tensor.layout() == at::kStrided, "mrc: ", call, " takes dense tensors, not ",
		    tensor.layout());
	TORCH_CHECK(tensor.device().is_cpu(), "mrc: ", call,
		    " takes tensors in the host's memory, not on ", tensor.device());
}

void check_alike(const std::vector<at::Tensor> &tensors, const at::Tensor &like, int64_t count,
		 const char *call)
{
	for (const auto &tensor : tensors) {
		check(tensor, call);
		TORCH_CHECK(tensor.scalar_type() == like.scalar_type() && tensor.numel() == count,
			    "mrc: ", call, ": a tensor of ", tensor.numel(), " ",
			    toString(tensor.scalar_type()), " among those of ", count, " ",
			    toString(like.scalar_type()));
	}
}

static bool overlap(const at::Tensor &a, const at::Tensor &b)
{
	const auto status = at::get_overlap_status(a, b);

	return status == at::MemOverlapStatus::Full || status == at::MemOverlapStatus::Partial;
}

void check_apart(const std::vector<at::Tensor> &written, const char *call)
{
	for (size_t i = 0; i < written.size(); i++) {
		TORCH_CHECK(at::has_internal_overlap(written[i]) != at::MemOverlap::Yes,
			    "mrc: ", call,
			    " writes a tensor of which several elements are one in memory");
		for (size_t j = 0; j < i; j++)
			TORCH_CHECK(!overlap(written[i], written[j]), "mrc: ", call,
				    " writes tensors ", j, " and ", i, ", which overlap");
	}
}

void check_unread(const at::Tensor &written, const at::Tensor &read, const char *call)
{
	TORCH_CHECK(!overlap(written, read), "mrc: ", call,
		    " writes a tensor that overlaps one which it reads");
}

at::Tensor the_one(const std::vector<at::Tensor> &tensors, const char *call)
{
	TORCH_CHECK(tensors.size() == 1, "mrc: ", call, " takes one tensor a rank, not ",
		    tensors.size());
	check(tensors[0], call);
	return tensors[0];
}

uint32_t what_of(const at::Tensor &tensor)
{
	return static_cast<uint32_t>(tensor.scalar_type());
}

/* Without autograd: what is received into a parameter is no operation on it. */
static at::Tensor detached(const at::Tensor &tensor)
{
	return tensor.detach();
}

Flat::Flat(const at::Tensor &tensor) : tensor_(detached(tensor)), flat_(tensor_.contiguous())
{
}

void *Flat::data() const
{
	return flat_.data_ptr();
}

size_t Flat::bytes() const
{
	return flat_.nbytes();
}

void Flat::put_back() const
{
	if (!flat_.is_same(tensor_))
		tensor_.copy_(flat_);
}

void copy_elements(const at::Tensor &into, const at::Tensor &from)
{
	detached(into).copy_(detached(from).reshape(into.sizes()));
}

static const char *name_of(c10d::ReduceOp::RedOpType op)
{
	static const char *const names[] = {"SUM",  "AVG", "PRODUCT", "MIN",	   "MAX",
					    "BAND", "BOR", "BXOR",    "PREMUL_SUM"};

	return op < sizeof(names) / sizeof(names[0]) ? names[op] : "UNUSED";
}

static bool has(at::ScalarType type, c10d::ReduceOp::RedOpType op)
{
	const bool whole = at::isIntegralType(type, true);

	switch (op) {
	case c10d::ReduceOp::SUM:
	case c10d::ReduceOp::PRODUCT:
		return whole || at::isFloatingType(type) || at::isComplexType(type);
	case c10d::ReduceOp::AVG:
		return at::isFloatingType(type);
	case c10d::ReduceOp::MIN:
	case c10d::ReduceOp::MAX:
		return whole || at::isFloatingType(type);
	case c10d::ReduceOp::BAND:
	case c10d::ReduceOp::BOR:
	case c10d::ReduceOp::BXOR:
		return whole;
	default:
		return false;
	}
}

Reduction::Reduction(const at::Tensor &like, const c10d::ReduceOp &op, const char *call)
    : type_(like.scalar_type()), element_(like.element_size()), op_(op)
{
	TORCH_CHECK(has(type_, op_), "mrc: ", call, " has no ReduceOp.", name_of(op_), " for ",
		    toString(type_));
}

uint32_t Reduction::what() const
{
	return static_cast<uint32_t>(type_) | (static_cast<uint32_t>(op_) + 1) << 8;
}

at::Tensor Reduction::view(void *data, size_t bytes) const
{
	return at::from_blob(data, {static_cast<int64_t>(bytes / element_)},
			     at::TensorOptions().dtype(type_));
}

void Reduction::apply(void *arg, void *into, const void *from, size_t bytes)
{
	const auto *r = static_cast<const Reduction *>(arg);
	auto a = r->view(into, bytes);
	const auto b = r->view(const_cast<void *>(from), bytes);

	switch (r->op_) {
	case c10d::ReduceOp::PRODUCT:
		a.mul_(b);
		break;
	case c10d::ReduceOp::MIN:
		at::minimum_out(a, a, b);
		break;
	case c10d::ReduceOp::MAX:
		at::maximum_out(a, a, b);
		break;
	case c10d::ReduceOp::BAND:
		a.bitwise_and_(b);
		break;
	case c10d::ReduceOp::BOR:
		a.bitwise_or_(b);
		break;
	case c10d::ReduceOp::BXOR:
		a.bitwise_xor_(b);
		break;
	default: /* SUM and AVG; the constructor has refused the others */
		a.add_(b);
	}
}

mg_combine Reduction::combine()
{
	mg_combine reduce = {};

	reduce.combine = apply;
	reduce.arg = this;
	reduce.element = element_;
	return reduce;
}

void Reduction::finish(void *data, size_t bytes, int ranks) const
{
	if (op_ == c10d::ReduceOp::AVG)
		view(data, bytes).div_(ranks);
}

} // namespace softmrc
