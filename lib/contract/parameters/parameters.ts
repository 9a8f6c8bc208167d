import * as executions from './executions.ts'
import * as lists from './lists.ts'
import * as runs from './runs.ts'
import * as usage from './usage.ts'

/** By the names that `routes.ts` uses. For OpenAPI and types: a function imports only its own schemas. */
export const parameterSchemas = { ...executions, ...lists, ...runs, ...usage }
