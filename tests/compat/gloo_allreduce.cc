/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gloo_allreduce RANKS COUNT ROUNDS [RANK FOLDER] - all-reduces of Gloo on its ibverbs transport,
 * by three of its algorithms, each result compared with what arithmetic says.
 *
 * The ranks are processes of this one; or, with RANK, this is one of them, and all find each other
 * in FOLDER.
 *
 * Prints "bytes B": what the processes must at least have sent each other, 2 (RANKS - 1) COUNT
 * floats an all-reduce.
 */
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

struct job {
	int ranks, count, rounds;
	std::string store; // a folder in which the ranks find each other
};

/* Small whole numbers, so that sums of floats are exact in any order. */
float value(int rank, int index, int round)
{
	return static_cast<float>((rank * 7 + index * 3 + round) % 1000);
}

void fill(std::vector<float> &data, int rank, int round)
{
	for (size_t i = 0; i < data.size(); i++)
		data[i] = value(rank, static_cast<int>(i), round);
}

bool is_sum(const std::vector<float> &data, const job &job, int round)
{
	for (size_t i = 0; i < data.size(); i++) {
		float sum = 0;

		for (int rank = 0; rank < job.ranks; rank++)
			sum += value(rank, static_cast<int>(i), round);
		if (data[i] != sum) {
			fprintf(stderr, "round %d: element %zu is %g, not %g\n", round, i,
				static_cast<double>(data[i]), static_cast<double>(sum));
			return false;
		}
	}
	return true;
}

template <typename Algorithm>
bool reduce(const std::shared_ptr<gloo::Context> &context, const job &job)
{
	std::vector<float> data(static_cast<size_t>(job.count));
	/*
	 * Never deleted: Gloo aborts when a buffer goes whose last notification is not complete at
	 * the sender yet, and offers no way to wait for it.
	 */
	Algorithm *algorithm = new Algorithm(context, {data.data()}, job.count);

	for (int round = 0; round < job.rounds; round++) {
		fill(data, context->rank, round);
		algorithm->run();
		if (!is_sum(data, job, round))
			return false;
	}
	return true;
}

/* Waits until all ranks have all that was sent to them. */
void meet(gloo::rendezvous::FileStore &store, int rank, const job &job)
{
	std::vector<std::string> all;

	store.set("done" + std::to_string(rank), {'1'});
	for (int other = 0; other < job.ranks; other++)
		all.push_back("done" + std::to_string(other));
	store.wait(all, std::chrono::seconds(100));
}

void say_good(const job &job)
{
	const int algorithms = 3;

	printf("every sum is right\nbytes %lld\n", 2LL * (job.ranks - 1) * job.count *
							   static_cast<long long>(sizeof(float)) *
							   job.rounds * algorithms);
}

/* Does not return, so that nothing of Gloo is taken apart; see reduce(). */
[[noreturn]] void be_rank(int rank, const job &job)
{
	bool good;

	gloo::transport::ibverbs::attr attr{"mrc0", 1, 0};
	std::shared_ptr<gloo::transport::Device> device =
		gloo::transport::ibverbs::CreateDevice(attr);
	gloo::rendezvous::FileStore store(job.store);
	auto context = std::make_shared<gloo::rendezvous::Context>(rank, job.ranks);

	context->setTimeout(std::chrono::seconds(100));
	context->connectFullMesh(store, device);
	good = reduce<gloo::AllreduceRing<float>>(context, job) &&
	       reduce<gloo::AllreduceRingChunked<float>>(context, job) &&
	       reduce<gloo::AllreduceHalvingDoubling<float>>(context, job);
	meet(store, rank, job);
	if (good && rank == 0)
		say_good(job);
	exit(good ? 0 : 1);
}

[[noreturn]] void run_rank(int rank, const job &job)
{
	try {
		be_rank(rank, job);
	} catch (const std::exception &e) {
		fprintf(stderr, "rank %d: %s\n", rank, e.what());
		exit(1);
	}
}

/* Each rank is a process, and opens the device itself: a NIC does not survive a fork. */
bool run_ranks(const job &job)
{
	int failed = 0, status;

	for (int rank = 0; rank < job.ranks; rank++)
		if (fork() == 0)
			run_rank(rank, job);
	for (int rank = 0; rank < job.ranks; rank++) {
		wait(&status);
		failed += status != 0;
	}
	return failed == 0;
}

/* All ranks, in a folder that goes with them. */
int run_all(job job)
{
	char store[] = "/tmp/gloo-XXXXXX";
	bool good;

	if (!mkdtemp(store)) {
		perror(store);
		return 1;
	}
	job.store = store;
	good = run_ranks(job);
	std::filesystem::remove_all(store);
	return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
	job job;

	if (argc != 4 && argc != 6) {
		fprintf(stderr, "usage: gloo_allreduce RANKS COUNT ROUNDS [RANK FOLDER]\n");
		return 2;
	}
	job = {atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), argc == 6 ? argv[5] : ""};
	if (argc == 6)
		run_rank(atoi(argv[4]), job);
	return run_all(job);
}
