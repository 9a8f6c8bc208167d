import { randomBytes } from 'node:crypto'
import { findMacs, macOf } from '../../core/callback-mac.ts'
import type { LeasedExecution } from '../../core/execution.ts'
import { readSetting } from '../../environment.ts'
import type { SecretMask } from '../../tools/secret-mask.ts'
import type { Journal } from '../checkpoints/journal.ts'
import type { Engine } from '../engine.ts'

type Params = {
  engine: Pick<Engine, 'environment'>
  execution: LeasedExecution
  journal: Journal
  mask: SecretMask
}

/**
 * The callback URLs of one attempt of a code agent. The secret by which they are made never reaches the agent's thread.
 * It is stored before the first URL is used, with the lease that the first step would renew: most runs pay nothing.
 */
export function openCallbacks({ engine, execution, journal, mask }: Params) {
  const { environment = process.env } = engine
  const publicUrl = readSetting('publicUrl', environment) || undefined
  let secret: Promise<string> | undefined

  async function openSecret(): Promise<string> {
    if (execution.callbackSecret) return execution.callbackSecret
    // 256 bits, as the MAC has.
    const created = randomBytes(32).toString('base64url')
    await journal.recordCallbackSecret(created)
    return created
  }

  return {
    publicUrl,

    /** @throws AttemptStopped, Unavailable */
    async urlOf(name: string): Promise<string> {
      secret ??= openSecret()
      const mac = macOf(await secret, execution.id, name)
      mask.add('callback', mac)
      return `${publicUrl}/v1/callbacks/${execution.id}/${name}/${mac}`
    },

    /** Also masks what the agent has stored in steps of earlier attempts, and can print again. */
    maskStored(steps: [name: string, json: string][]): void {
      const macs = steps.flatMap((step) => step.flatMap(findMacs))
      for (const mac of new Set(macs)) mask.add('callback', mac)
    },
  }
}
