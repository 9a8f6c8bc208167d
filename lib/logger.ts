import { Logger } from '@aws-lambda-powertools/logger'

/** Structured logs with ids, outcomes and durations. Inputs, outputs and other content of clients are not logged. */
export const logger = new Logger({ serviceName: 'agent-execution-service' })

/** An error as it is logged: without its other properties, which may contain data of clients. */
export const describeCause = (cause: unknown) =>
  cause instanceof Error
    ? { name: cause.name, message: cause.message, stack: cause.stack }
    : { name: typeof cause }
