const RESPONSE_FORMAT = /response.?format|json.?schema|grammar|structured|guided/i

/** Whether a server rejected a request for its `response_format`: it does not know it, or cannot enforce the schema. */
export function rejectsResponseFormat(error: unknown): boolean {
  const { statusCode, responseBody } = Object(error)
  return statusCode >= 400 && RESPONSE_FORMAT.test(JSON.stringify(responseBody ?? ''))
}
