import { executionPageParameters, pageParameters } from './page-parameters.ts'
import { runHeaders, runParameters } from './run-parameters.ts'
import { waitHeaders } from './wait-headers.ts'

/**
 * By the names that `routes.ts` uses. For OpenAPI and types: a function imports the schemas that it needs, because to
 * load zod/mini and all schemas takes 5 ms of processor time at a cold start, a tenth of `DynamoDBDocumentClient`.
 */
export const parameterSchemas = {
  runParameters,
  pageParameters,
  executionPageParameters,
  runHeaders,
  waitHeaders,
}
