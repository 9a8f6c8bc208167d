const HEX = 16

/**
 * The trace context of a run (https://www.w3.org/TR/trace-context/#traceparent-header), the same in each worker: its
 * trace has the digits of the execution's id, and its span the random ones at their end.
 */
export function traceparentOf(executionId: string): string {
  const digits = executionId.replaceAll('-', '').toLowerCase()
  return `00-${digits}-${digits.slice(-HEX)}-01`
}
