import { eventHeaders } from './event-headers.ts'
import { executionParameters } from './execution-parameters.ts'
import { agentPageParameters, executionPageParameters, pageParameters } from './page-parameters.ts'
import { runHeaders, runParameters } from './run-parameters.ts'
import { waitHeaders } from './wait-headers.ts'

/**
 * By the names that `routes.ts` uses. For OpenAPI and types. A function imports only its own schemas: zod/mini and all
 * schemas take 5 ms of processor time at a cold start, a tenth of what `DynamoDBDocumentClient` takes.
 */
export const parameterSchemas = {
  runParameters,
  pageParameters,
  agentPageParameters,
  executionPageParameters,
  executionParameters,
  eventHeaders,
  runHeaders,
  waitHeaders,
}
