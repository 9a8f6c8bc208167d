/** Settings of the run queue, on AWS and on this machine. */
export const QUEUE = {
  /**
   * Runners at work at the same time on AWS. Well below the account's concurrency: a runner that Lambda throttles has
   * still received its message.
   */
  maxRunners: 50,
  /** The longest that SQS keeps a message, so that there is time to look at what failed. */
  deadLetterDays: 14,
} as const
