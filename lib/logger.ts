import { Logger } from '@aws-lambda-powertools/logger'

/** Structured logs. Nothing that a client sent or an agent returned ever goes in: ids, outcomes and durations do. */
export const logger = new Logger({ serviceName: 'agent-execution-service' })
