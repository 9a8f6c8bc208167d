import { expect } from 'vitest'
import { problemRecord } from '../../lib/contract/records/records.ts'
import { getOperation, type OperationName } from '../../lib/contract/routes.ts'
import { ERRORS, type ErrorCode } from '../../lib/core/errors.ts'
import type { ApiResponse } from '../support/service/client.ts'

/** Errors that any operation can answer with. */
const COMMON: ErrorCode[] = [
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'MethodNotAllowed',
  'RouteNotFound',
  'InvalidQueryParameter',
  'PayloadTooLarge',
]

/** The response is problem details with this code, which the contract of the operation names. */
export function expectProblem(response: ApiResponse, code: ErrorCode, name?: OperationName): void {
  const { status, json, headers, text } = response
  expect([status, json?.code], text).toEqual([ERRORS[code].status, code])
  expect(json).toMatchObject({ status, title: ERRORS[code].title })
  expect(problemRecord.safeParse(json).error).toBeUndefined()
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(json.instance).toBe(headers.get('x-amzn-requestid'))
  expect(text.length).toBeLessThan(2_000)
  const declared = (name && getOperation(name).errors) ?? []
  const codes = declared.map((error) => (typeof error === 'string' ? error : error.code))
  if (name && !COMMON.includes(code)) expect(codes, `the errors of ${name} in routes.ts`).toContain(code)
}

/** The response without the request ID and the date. */
export const comparable = ({ status, text, json, headers }: ApiResponse) => [
  status,
  text.replaceAll(json?.instance ?? '', ''),
  [...headers].filter(([name]) => name !== 'date' && name !== 'x-amzn-requestid'),
]
