import { Interruption } from '../../core/errors.ts'
import type { Wait } from '../../core/wait.ts'

/** Thrown through a tool call that cannot end before one of these does: its run is suspended after the other calls. */
export class CallWaits extends Interruption {
  override readonly name = 'CallWaits'
  readonly waits: Wait[]

  constructor(waits: Wait[]) {
    super('The call waits.')
    this.waits = waits
  }
}
