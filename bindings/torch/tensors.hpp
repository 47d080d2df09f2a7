/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tensors.hpp - tensors as the bytes that a group moves: checked, flat, and combined.
 */
#ifndef BINDINGS_TORCH_TENSORS_HPP
#define BINDINGS_TORCH_TENSORS_HPP

#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

extern "C" {
#include "group/group.h"
}

namespace softmrc
{

/* check throws unless this is a dense tensor in the host's memory; `call` is named. */
void check(const at::Tensor &tensor, const char *call);

/* check_alike throws unless all are such tensors of one type, each of `count` elements. */
void check_alike(const std::vector<at::Tensor> &tensors, const at::Tensor &like, int64_t count,
		 const char *call);

/* check_apart throws where elements of what a call writes lie on each other, as in an expanded tensor
 * or in two views of the same elements. */
void check_apart(const std::vector<at::Tensor> &written, const char *call);

/* check_unread throws where a call would write over what it still reads. */
void check_unread(const at::Tensor &written, const at::Tensor &read, const char *call);

/* the_one returns the only tensor of a list, for calls that take one a rank. */
at::Tensor the_one(const std::vector<at::Tensor> &tensors, const char *call);

/* What of a call must be the same on all ranks besides its size. */
uint32_t what_of(const at::Tensor &tensor);

/* A contiguous tensor that stands for another one: itself, or a copy that put_back copies back. */
class Flat
{
      public:
	explicit Flat(const at::Tensor &tensor);
	void *data() const;
	size_t bytes() const;
	void put_back() const;

      private:
	at::Tensor tensor_, flat_;
};

/* copy_elements writes the elements of one tensor over those of another, whatever their shapes. */
void copy_elements(const at::Tensor &into, const at::Tensor &from);

/* How tensors of a type are combined, with PyTorch's own arithmetic. */
class Reduction
{
      public:
	/* Throws, naming both, for an operation that the type does not have. */
	Reduction(const at::Tensor &like, const c10d::ReduceOp &op, const char *call);
	uint32_t what() const;
	mg_combine combine();
	/* For AVG: divides a sum by the number of ranks. */
	void finish(void *data, size_t bytes, int ranks) const;

      private:
	static void apply(void *arg, void *into, const void *from, size_t bytes);
	at::Tensor view(void *data, size_t bytes) const;

	at::ScalarType type_;
	size_t element_;
	c10d::ReduceOp::RedOpType op_;
};

} // namespace softmrc

#endif
