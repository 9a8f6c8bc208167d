/** One of those who take turns: `turn` takes its measure once. */
export type Contender<Name extends string, Measure> = { name: Name; turn: () => Promise<Measure> }

/**
 * Lets the contenders take turns, round by round, so that whatever else the machine does slows all alike. Every second
 * round runs backwards: none is always the one that comes after the heaviest. No round begins once `limitMs` are over.
 * @returns each one's measures, in the order of the rounds
 */
export async function takeTurns<Name extends string, Measure>(
  contenders: Contender<Name, Measure>[],
  rounds: number,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<Record<Name, Measure[]>> {
  const measures = Object.fromEntries(contenders.map(({ name }) => [name, []])) as unknown as Record<
    Name,
    Measure[]
  >
  const end = performance.now() + limitMs
  for (let round = 0; round < rounds && (round === 0 || performance.now() < end); round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed()
    for (const { name, turn } of order) measures[name].push(await turn())
  }
  return measures
}
