/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.hpp - the thread in which a group lives. It makes the collective calls in the order in
 * which they were handed in, and moves messages between two ranks on all the while.
 */
#ifndef BINDINGS_TORCH_WORKER_HPP
#define BINDINGS_TORCH_WORKER_HPP

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "torch/work.hpp"

extern "C" {
#include "group/group.h"
}

namespace softmrc
{

using Milliseconds = std::chrono::milliseconds;

/* A collective call. `run` returns mg_*'s 0 or -1; `after` runs when it was 0. */
struct Call {
	mg_kind kind;
	uint32_t what, root;
	Milliseconds timeout;
	std::function<int(mg_group *, const mg_call *)> run;
	std::function<void()> after;
	c10::intrusive_ptr<Work> work;
};

class Worker
{
      public:
	/* Opens a group and connects it, the ranks' cards going through the store. Throws what is wrong,
	 * or that a rank did not come in time. */
	Worker(c10d::Store &store, int rank, int ranks, Milliseconds timeout);
	/* Makes the calls that were handed in, ends messages that are not done, and leaves. */
	~Worker();
	Worker(const Worker &) = delete;
	Worker &operator=(const Worker &) = delete;

	void submit(Call call);
	/* `tensor` is kept until the message is done. */
	void submit(mg_request_kind kind, uint32_t peer, uint32_t tag, at::Tensor tensor,
		    Milliseconds timeout, c10::intrusive_ptr<Work> work);

      private:
	struct Message;

	void meet(c10d::Store &store, Milliseconds timeout);
	void loop();
	void make(Call &call);
	void start_messages();
	static void woken(void *arg);
	static void message_done(mg_request *request, const char *error);

	const int rank_, ranks_;
	mg_group *group_ = nullptr;
	uint64_t calls_ = 0;
	std::mutex mutex_;
	std::deque<Call> queue_;	 /* under mutex_ */
	std::deque<Message *> messages_; /* under mutex_ */
	bool stop_ = false;		 /* under mutex_ */
	std::thread thread_;
};

} // namespace softmrc

#endif
