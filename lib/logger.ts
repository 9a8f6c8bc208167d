import { Logger } from '@aws-lambda-powertools/logger'

/** Structured logs with ids, outcomes and durations. Inputs, outputs and other content of clients must not be logged. */
export const logger = new Logger({ serviceName: 'agent-execution-service' })
