import { Interruption } from '../../core/errors.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { DIVERGED } from '../../core/trial.ts'
import type { Wait } from '../../core/wait.ts'

/** A replay needs what its original did not record. `details` are those of the execution's error. */
export class Diverged extends Interruption {
  override readonly name = 'Diverged'
  readonly error: ExecutionError

  constructor(message: string, details: JsonObject) {
    super(message)
    this.error = { code: DIVERGED, message, ...details }
  }
}

/** A replay has reached the end of its original, with its error. */
export class OriginalEnded extends Interruption {
  override readonly name = 'OriginalEnded'
  readonly error: ExecutionError

  constructor(error: ExecutionError) {
    super(error.message)
    this.error = error
  }
}

const MAX_NAMES = 10

/** A replay is never suspended. */
export function endlessWaits(waits: Wait[]): Diverged {
  const names = waits.slice(0, MAX_NAMES).map(({ name }) => name)
  const message = 'The agent does nothing but wait, and its waits had not ended when the original ended:'
  return new Diverged(`${message} ${names.map((name) => `"${name}"`).join(', ')}.`, { names })
}
