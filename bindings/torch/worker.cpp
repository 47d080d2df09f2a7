/* SPDX-License-Identifier: BSD-2-Clause */
#include "torch/worker.hpp"

#include <stdexcept>

namespace softmrc
{

/* The group's request with what it belongs to. */
struct Worker::Message {
	mg_request request;
	at::Tensor tensor;
	c10::intrusive_ptr<Work> work;
};

/* A timeout beyond 100 years is none: in nanoseconds it may be more than 64 bits hold. */
static uint64_t deadline(Milliseconds timeout)
{
	if (timeout > std::chrono::hours(24 * 36525))
		return MG_NEVER;
	return mg_now_ns() + static_cast<uint64_t>(timeout.count()) * 1000000;
}

static std::string key(const char *what, int rank)
{
	return std::string("softmrc/") + what + "/" + std::to_string(rank);
}

/* Two rounds: cards, and that all are connected; before, nobody may send. */
void Worker::meet(c10d::Store &store, Milliseconds timeout)
{
	std::vector<uint8_t> card(mg_card_bytes(group_));
	char error[MG_TEXT_MAX];

	mg_describe(group_, card.data());
	store.set(key("card", rank_), card);
	for (int peer = 0; peer < ranks_; peer++) {
		if (peer == rank_)
			continue;
		store.wait({key("card", peer)}, timeout);
		const auto theirs = store.get(key("card", peer));
		if (mg_connect(group_, static_cast<uint32_t>(peer), theirs.data(), theirs.size(),
			       error))
			throw std::runtime_error(std::string("mrc: ") + error);
	}
	store.set(key("connected", rank_), {1});
	for (int peer = 0; peer < ranks_; peer++)
		store.wait({key("connected", peer)}, timeout);
}

Worker::Worker(c10d::Store &store, int rank, int ranks, Milliseconds timeout)
    : rank_(rank), ranks_(ranks)
{
	char error[MG_TEXT_MAX];
	mg_cfg cfg = {};

	cfg.rank = static_cast<uint32_t>(rank);
	cfg.ranks = static_cast<uint32_t>(ranks);
	cfg.woken = woken;
	cfg.arg = this;
	group_ = mg_open(&cfg, error);
	if (!group_)
		throw std::runtime_error(std::string("mrc: ") + error);
	try {
		meet(store, timeout);
		thread_ = std::thread([this] { loop(); });
	} catch (...) {
		mg_close(group_);
		throw;
	}
}

Worker::~Worker()
{
	{
		std::lock_guard<std::mutex> lock(mutex_);
		stop_ = true;
	}
	mg_wake(group_);
	thread_.join();
	/* What came between the thread's last look and its end; mg_close tells all that it is over. */
	start_messages();
	mg_close(group_);
}

void Worker::submit(Call call)
{
	{
		std::lock_guard<std::mutex> lock(mutex_);
		queue_.push_back(std::move(call));
	}
	mg_wake(group_);
}

void Worker::submit(mg_request_kind kind, uint32_t peer, uint32_t tag, at::Tensor tensor,
		    Milliseconds timeout, c10::intrusive_ptr<Work> work)
{
	auto *message = new Message{};

	message->request.kind = kind;
	message->request.peer = peer;
	message->request.tag = tag;
	message->request.data = tensor.data_ptr();
	message->request.bytes = tensor.nbytes();
	message->request.deadline_ns = deadline(timeout);
	message->request.done = message_done;
	message->tensor = std::move(tensor);
	message->work = std::move(work);
	{
		std::lock_guard<std::mutex> lock(mutex_);
		messages_.push_back(message);
	}
	mg_wake(group_);
}

/* The request is the first member. */
void Worker::message_done(mg_request *request, const char *error)
{
	auto *message = reinterpret_cast<Message *>(request);

	message->work->set_source(static_cast<int>(request->peer));
	message->work->complete(error ? error : "");
	delete message;
}

void Worker::woken(void *arg)
{
	static_cast<Worker *>(arg)->start_messages();
}

void Worker::start_messages()
{
	std::deque<Message *> messages;

	{
		std::lock_guard<std::mutex> lock(mutex_);
		messages.swap(messages_);
	}
	for (auto *message : messages)
		mg_request_start(group_, &message->request);
}

void Worker::make(Call &call)
{
	mg_call c = {};
	std::string error;

	c.kind = call.kind;
	c.what = call.what;
	c.root = call.root;
	c.number = ++calls_;
	c.deadline_ns = deadline(call.timeout);
	try {
		if (call.run(group_, &c))
			error = mg_broken(group_);
		else if (call.after)
			call.after();
	} catch (const std::exception &e) {
		error = e.what();
		mg_break(group_, e.what());
	}
	call.run = nullptr;
	call.after = nullptr;
	call.work->complete(error);
}

void Worker::loop()
{
	for (;;) {
		Call call;
		bool found = false, stop;

		start_messages();
		{
			std::lock_guard<std::mutex> lock(mutex_);
			found = !queue_.empty();
			stop = stop_;
			if (found) {
				call = std::move(queue_.front());
				queue_.pop_front();
			}
		}
		if (found)
			make(call);
		else if (stop)
			return;
		else
			mg_serve(group_, -1);
	}
}

} // namespace softmrc
