import type { ProblemRecord } from '../../lib/contract/records/records.ts'

/**
 * A request that failed. `status` is 0 if there was no response. `problem` has what the service said about it (RFC
 * 9457), and is null if the response came from something else, such as a proxy.
 */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly problem: ProblemRecord | null
  /** Seconds to wait before a retry, if the service said so. */
  readonly retryAfter: number | null

  constructor(
    message: string,
    details: { status: number; code: string; problem?: ProblemRecord | null; retryAfter?: number | null },
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = details.status
    this.code = details.code
    this.problem = details.problem ?? null
    this.retryAfter = details.retryAfter ?? null
  }
}

/** The console itself refuses a change of what is not what the page shows. */
export const CHANGED = 'ChangedMeanwhile'

export const unreachable = (): ApiError =>
  new ApiError('The service does not respond.', { status: 0, code: 'Unreachable' })

export async function toApiError(response: Response): Promise<ApiError> {
  const { status } = response
  const problem = await readProblem(response)
  const seconds = Number(response.headers.get('Retry-After'))
  return new ApiError(problem?.detail ?? `The service responded with status ${status}.`, {
    status,
    code: problem?.code ?? `Http${status}`,
    problem,
    retryAfter: seconds > 0 ? seconds : null,
  })
}

async function readProblem(response: Response): Promise<ProblemRecord | null> {
  const isProblem = response.headers.get('Content-Type')?.startsWith('application/problem+json')
  return isProblem ? await response.json().catch(() => null) : null
}

/** For `catch`: null for an error with this status or code; throws any other. */
export const nullIf =
  (kind: number | string) =>
  (error: unknown): null => {
    if (error instanceof ApiError && (error.status === kind || error.code === kind)) return null
    throw error
  }

/** The same error with the labels of a form in place of the members of the request: `/url must be…`. */
export function withLabels(error: ApiError, labels: Record<string, string>): ApiError {
  const labelOf = (name: string, text: string) => (Object.hasOwn(labels, name) ? `“${labels[name]}”` : text)
  const label = (message: string) =>
    message
      .replaceAll(/(?<!\S)\/(\w+)(?:\/\S*)?(?= [a-z])/g, (pointer, name: string) => labelOf(name, pointer))
      .replaceAll(/\b[a-z]+[A-Z]\w*/g, (name) => labelOf(name, name))
  const { status, code, problem, retryAfter } = error
  const errors = problem?.errors?.map((each) => ({ ...each, message: label(each.message) }))
  return new ApiError(label(error.message), {
    status,
    code,
    retryAfter,
    problem: problem && { ...problem, ...(errors && { errors }) },
  })
}

export function adviceFor({ status, code, retryAfter }: ApiError): string {
  if (status === 0) return 'Check that it is running and that this device is online, then try again.'
  if (status === 403) return 'Sign in with another token, or ask for one with this permission.'
  if (code === 'RouteNotFound' || code === 'MethodNotAllowed')
    return 'The service is of another version than this page: reload the page.'
  if (status === 404) return 'It may have been deleted, or this token may not see it. Check the address.'
  if (code === CHANGED) return 'The page now shows what there is. Look at it, then decide again.'
  if (status === 409) return 'Reload to see its current state.'
  if (status === 429 || status === 503) return `Try again in ${retryAfter ?? 1} s.`
  if (status >= 500) return 'Try again. If it fails again, report it with the request ID.'
  return 'Correct the request, then try again.'
}

/** Errors of this page are shown like those of the service. */
export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(error instanceof Error ? error.message : String(error), {
        status: -1,
        code: 'ConsoleError',
      })
