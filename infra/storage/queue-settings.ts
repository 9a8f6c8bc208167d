/** Settings of the run queue, on AWS and on this machine. */
export const QUEUE = {
  /** The longest that SQS keeps a message, so that there is time to look at what failed. */
  deadLetterDays: 14,
} as const
