/** Settings of the run queue, on AWS and on this machine. */
export const QUEUE = {
  /** Deliveries of one message before it goes to the dead-letter queue. */
  maxReceives: 5,
  /** Lambda asks for at least the function's time limit; here a poller keeps the lease's time. */
  localVisibilitySeconds: 60,
} as const
