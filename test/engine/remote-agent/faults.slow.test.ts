import { describe, expect, it } from 'vitest'
import { isFinal } from '../../../lib/core/execution.ts'
import { seededRandom } from '../../support/data/random.ts'
import { answer, aRemote, aRemoteRun, stream } from '../../support/engine/remote-run.ts'

const RUNS = 40
const MAX_ROUNDS = 60

describe('runs of a remote agent that drops, delays, cuts and answers 503', () => {
  it.each([1, 2, 3])('end with the right output, with one effect each (seed %i)', async (seed) => {
    const { next: random } = seededRandom(seed, 'remote agent')
    const effects = new Map<string, string>()
    const callbacks: { url: string; key: string }[] = []
    const remote = await aRemote(async (response, { headers, body }) => {
      const key = String(headers['idempotency-key'])
      const fault = random()
      if (fault < 0.12) return response.destroy()
      if (fault < 0.24) return answer(response, { message: 'busy' }, 503)
      // The effect of a key happens once.
      const output = { answer: effects.get(key) ?? `Effect ${effects.size + 1}` }
      effects.set(key, output.answer)
      if (fault < 0.36) return response.destroy()
      if (fault < 0.48) return stream(response, { step: { name: 'worked' } }, { delta: 'cut' })
      if (fault < 0.56) await new Promise((resolve) => setTimeout(resolve, 20))
      if (fault < 0.7) {
        callbacks.push({ url: body.callbackUrl ?? '', key })
        // The answer may be lost, too.
        return fault < 0.64 ? answer(response, {}, 202) : response.destroy()
      }
      return fault < 0.85
        ? answer(response, output)
        : stream(response, { step: { name: 'worked' } }, { output })
    })
    for (let n = 0; n < RUNS; n++) {
      const run = await aRemoteRun(remote)
      for (let round = 1; round <= MAX_ROUNDS; round++) {
        await run.process(round > 1, 1)
        await run.process(false, 1)
        if (isFinal(await run.stored())) break
        for (const { url, key } of callbacks.splice(0))
          await run.callBack(url, { output: { answer: effects.get(key) ?? '' } }).catch(() => undefined)
        run.passTime(600_000)
      }
      expect(await run.stored()).toMatchObject({
        status: 'SUCCESS',
        error: null,
        output: { answer: effects.get(run.id) },
      })
      callbacks.length = 0
    }
    expect(effects.size).toBe(RUNS)
  })
})
