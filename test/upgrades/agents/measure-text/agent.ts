type Step = <T>(name: string, fn: () => T) => Promise<T>

export default async function run(
  { text, factor = 1 }: { text: string; factor?: number },
  { step }: { step: Step },
) {
  if (text === '') throw new Error('The text is empty.')
  const words = await step('count words', () => text.split(' ').length)
  const product = await step('multiply', () => words * factor)
  console.log(`${words} words`)
  return { words: product, text }
}
