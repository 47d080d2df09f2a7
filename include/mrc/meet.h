/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * meet.h - how two QPs find each other: what one end must know of the other as one line of text,
 * and a way to exchange it over a socket, over pipes, or by hand through stdin and stdout.
 *
 * MRC leaves this to programs. What they nearly all do takes three calls at each end:
 *
 *	mrc_meet_listen(NULL, port, ms, &fd), at the other end mrc_meet_call(host, port, ms, &fd)
 *	mrc_meet(qp, mr, fd, fd, ms, &peer)   both QPs are in RTS; peer says where its memory is
 *	mrc_post_recv, then mrc_meet_sync(fd, fd, ms), after which either may send
 *
 * The calls below mrc_meet are its parts, for programs that carry lines by a way of their own: a
 * job's store, MPI, a file.
 *
 * Trust. Nothing here proves who the peer is, and nothing is secret: who can reach the descriptors
 * can be the peer, and who reads a line knows the key to the memory that it names. A peer can make
 * these calls fail, and last as long as their time limit; it is never trusted beyond that: no more
 * is read than one line of known length, and each field of it is checked.
 *
 * What holds for every call: it returns 0 or an errno value, and sets errno to that; a NULL pointer
 * that may not be NULL is EINVAL; it may be called from any thread, and keeps nothing. Time limits
 * are in milliseconds, 0 or more, or MRC_MEET_FOREVER.
 */
#ifndef MRC_MEET_H
#define MRC_MEET_H

#include <stdint.h>

#include <mrc.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_MEET_FOREVER (-1)
/* A line as text, with the end of line and a terminating zero. */
#define MRC_MEET_LINE_BYTES 109

/* What an end tells of itself: a QP, and the memory that its peer may write to. */
struct mrc_meet_end {
	union ibv_gid gid;	/* of the device, which names it on all planes */
	uint32_t qpn;		/* of the QP, 24 bits */
	uint32_t psn;		/* of its first packet, 24 bits */
	uint8_t mtu;		/* enum ibv_mtu, the largest that the device has */
	uint8_t mpr_dest;	/* that it accepts, mrc_qp_attr.mpr.mpr_dest, 1 or more */
	uint16_t max_wimm_dest; /* that it accepts, mrc_qp_attr.wimm.max_wimm_dest, 1 or more */
	uint32_t rkey;
	uint64_t address; /* of the memory */
	uint64_t bytes;	  /* of it; 0: it offers none, and rkey and address are 0 */
};

/* ---------------------------------------------------------------- both ends at once */

/*
 * mrc_meet connects a QP to the one whose owner calls mrc_meet at the other end. It BLOCKS until
 * the peer has answered or the time is over.
 *
 * qp          in RESET, or in INIT if receives are to be posted before; in RTS afterwards
 * mr          memory that the peer may write to, of the same device; NULL: none
 * in_fd       the peer's line is read from here: a socket, a pipe, a terminal
 * out_fd      our line is written to here; may be the same
 * timeout_ms  for everything together
 * theirs      out: what the peer said of itself
 *
 * A WRITE with immediate that arrives before a receive is posted fails the connection: post
 * receives, then call mrc_meet_sync. Limits of the peer (path MTU, MPR, WRITEs with immediate in
 * flight) are kept where they are smaller than our own.
 *
 * On an error before the QP was touched it is as it was; on a later one it is in RESET. SIGPIPE as
 * of write(2), unless out_fd is a socket. Returns 0 or an errno value:
 * EINVAL           the QP is in another state, the MR is of another device, or timeout_ms
 * ETIMEDOUT        the peer said too little for too long
 * ECONNRESET       the peer has gone
 * EPROTO           what the peer said is no line of mrc_meet, or names a value that cannot be
 * EPROTONOSUPPORT  the peer speaks another version of this exchange
 * EHOSTUNREACH     the device has no way to the peer's address: another IP version than its own
 * ENOMEM           no memory for windows or paths
 * EBADF, EPIPE     and others, of reading and writing
 */
int mrc_meet(struct mrc_qp *qp, const struct ibv_mr *mr, int in_fd, int out_fd, int timeout_ms,
	     struct mrc_meet_end *theirs);

/*
 * mrc_meet_sync returns when the peer has called it as well: both have posted their receives, or
 * neither has anything left to send. It BLOCKS until then.
 *
 * in_fd, out_fd, timeout_ms  as of mrc_meet, after it and through the same descriptors
 *
 * Returns 0 or an errno value:
 * EINVAL                         timeout_ms
 * ETIMEDOUT, ECONNRESET, EPROTO  and others, as mrc_meet
 */
int mrc_meet_sync(int in_fd, int out_fd, int timeout_ms);

/* ---------------------------------------------------------------- over TCP */

/*
 * mrc_meet_listen waits for one caller on a TCP port. It BLOCKS until there is one.
 *
 * address     numeric, IPv4 or IPv6, of this host; NULL: all addresses, of both kinds
 * port        1 .. 65535
 * timeout_ms  how long to wait
 * fd          out: the connection, which the caller closes
 *
 * Whoever calls first is taken; if mrc_meet then fails, call again. Returns 0 or an errno value:
 * EINVAL                     the address is none, port or timeout_ms is out of range
 * ETIMEDOUT                  nobody called
 * EADDRINUSE, EADDRNOTAVAIL  the port is taken; the address is not of this host
 * EACCES                     the port is one of root's
 * EMFILE, ENFILE, ENOMEM     no file descriptor or no memory left
 */
int mrc_meet_listen(const char *address, uint16_t port, int timeout_ms, int *fd);

/*
 * mrc_meet_call connects to a host that waits in mrc_meet_listen, or will do so soon: it tries each
 * of the host's addresses in turn, again and again. It BLOCKS until one answers.
 *
 * host        a name, or an IPv4 or IPv6 address. How long looking up a name takes is the
 *             resolver's affair and not counted
 * port        1 .. 65535
 * timeout_ms  how long to try
 * fd          out: the connection, which the caller closes
 *
 * Returns 0 or an errno value:
 * EINVAL          port or timeout_ms is out of range
 * EADDRNOTAVAIL   there is no such host, or it has no address
 * EAGAIN          no name server answers: as long as the name is wanted, call again
 * ECONNREFUSED    and others: why the last try failed, when the time is over
 * ETIMEDOUT       the time is over, and no try has ended
 * EMFILE, ENFILE  no file descriptor left; ENOMEM: no memory
 */
int mrc_meet_call(const char *host, uint16_t port, int timeout_ms, int *fd);

/* ---------------------------------------------------------------- parts */

/*
 * mrc_meet_describe fills in what a peer must know of a QP. The first PSN is drawn again by each
 * call, so a description is of use once.
 *
 * qp   in RESET or INIT, in which its limits as responder may still be set
 * mr   memory that the peer may write to, of the same device; NULL: none
 * end  out
 *
 * Returns 0 or an errno value:
 * EINVAL   the QP is in another state, or the MR is of another device
 * ENOSYS   the system has no random numbers
 */
int mrc_meet_describe(struct mrc_qp *qp, const struct ibv_mr *mr, struct mrc_meet_end *end);

/*
 * mrc_meet_print writes a description as a line of printable ASCII with an end of line: a word and
 * a version, then the fields in hexadecimal.
 *
 * line  out: as text, always MRC_MEET_LINE_BYTES with its terminating zero
 *
 * Returns 0 or an errno value:
 * EINVAL   a field of the description is out of its range
 */
int mrc_meet_print(const struct mrc_meet_end *end, char line[MRC_MEET_LINE_BYTES]);

/*
 * mrc_meet_parse reads a line of mrc_meet_print. An end of line may be missing.
 *
 * line  text that ends with zero
 * end   out: on an error it is as it was
 *
 * Returns 0 or an errno value:
 * EPROTONOSUPPORT  a line of another version
 * EPROTO           no line of mrc_meet, too short, too long, or a field out of its range
 */
int mrc_meet_parse(const char *line, struct mrc_meet_end *end);

/*
 * mrc_meet_connect takes a QP from RESET or INIT to RTS, with the peer that was described.
 *
 * mine    what mrc_meet_describe said of the QP, and the peer was told
 * theirs  what the peer said
 *
 * Returns 0 or an errno value. The QP is then as it was, or in RESET where it was already touched:
 * EINVAL        the QP is in another state or is not the one that `mine` describes, or a field of
 *               either is out of its range
 * EHOSTUNREACH  the device has no way to the peer's address
 * ENOMEM        no memory for windows or paths
 */
int mrc_meet_connect(struct mrc_qp *qp, const struct mrc_meet_end *mine,
		     const struct mrc_meet_end *theirs);

#ifdef __cplusplus
}
#endif

#endif
