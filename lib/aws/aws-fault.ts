/** What came of an operation that AWS refused or did not carry out. */
export class AwsFault extends Error {
  /** Of the answer; 0 when there was none. */
  readonly status: number

  /** @param name AWS's own, such as `ConditionalCheckFailedException`, or the code of a broken connection */
  constructor(name: string, message: string, status: number, cause?: Error) {
    super(message, { cause })
    this.name = name
    this.status = status
  }

  /** https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#operation-error-serialization */
  static ofAnswer(status: number, text: string, queryError: string | string[] | undefined): AwsFault {
    const { __type, code, message, Message } = fieldsOf(text)
    const [fromQuery] = String(queryError ?? '').split(';')
    const name = String(__type ?? code ?? (fromQuery || `Status${status}`))
      .replace(/^.*#/, '')
      .replace(/:.*$/, '')
    return new AwsFault(name, String(message ?? Message ?? `AWS answered with status ${status}.`), status)
  }

  static ofConnection(error: Error): AwsFault {
    const { code, name, message } = error as NodeJS.ErrnoException
    return new AwsFault(code ?? name, message || String(code), 0, error)
  }
}

/** Whether it may succeed when it is tried again: throttling, a fault of AWS's own, or a connection that broke. */
export function isPassing({ name, status }: AwsFault): boolean {
  return (
    status === 0 || status >= 500 || /Throttl|ThroughputExceeded|RequestLimitExceeded|SlowDown/.test(name)
  )
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(text)
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
