/** jest's matchers, typed as what they stand for, so that they may stand in typed values. */
export const containing = (part: string): string => expect.stringContaining(part) as string;
export const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;
export const anyText = (): string => expect.any(String) as string;
