/** Something that the user can put right: said in a sentence, without a stack trace. Exit code 1. */
export class UserError extends Error {
  /** Goes into the JSON document beside the message. */
  readonly details: Record<string, unknown>
  /** Lines for people; in the JSON document `details` say the same. */
  readonly lines: string[]

  constructor(
    message: string,
    { details = {}, lines = [] }: { details?: Record<string, unknown>; lines?: string[] } = {},
  ) {
    super(message)
    this.name = 'UserError'
    this.details = details
    this.lines = lines
  }
}
